/** A timeline of some steps of one rank, {@link io.regatta.trainer.trace.StepTrace}: what is seen, and the file. */
package io.regatta.trainer.trace;
