/**
 * A timeline of some steps of one rank, {@link io.regatta.training.trace.StepTrace}: its spans and its file. The
 * session owns it, and the rank's threads record in it. Part of the public API.
 */
package io.regatta.training.trace;
