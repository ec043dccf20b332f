/**
 * The result of a run, {@link io.regatta.trainer.result.RunResult}: as values, as JSON in a file, in words.
 * {@code trainer.run} creates it, and the commands print it.
 */
package io.regatta.trainer.result;
