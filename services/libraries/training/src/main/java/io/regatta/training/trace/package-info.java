/** A timeline of some steps of one rank, {@link io.regatta.training.trace.StepTrace}: what is seen, and the file. */
package io.regatta.training.trace;
