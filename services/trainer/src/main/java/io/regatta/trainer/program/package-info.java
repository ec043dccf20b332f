/**
 * Programs that come with Regatta: fit-a-line, Census and Criteo wide and deep. They use nothing that a user's program
 * could not.
 */
package io.regatta.trainer.program;
