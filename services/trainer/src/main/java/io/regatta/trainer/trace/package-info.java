/**
 * A timeline of some steps of one rank, {@link io.regatta.trainer.trace.StepTrace}: its spans and its file. The session
 * owns it, and the rank's threads record in it.
 */
package io.regatta.trainer.trace;
