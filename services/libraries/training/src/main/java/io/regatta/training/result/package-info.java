/**
 * The result of a run, {@link io.regatta.training.result.RunResult}: as values, as JSON in a file, in words. {@code
 * training.run} creates it, and the commands print it. Part of the public API.
 */
package io.regatta.training.result;
