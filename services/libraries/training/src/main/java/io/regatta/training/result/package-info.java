/** What a run has come to, {@link io.regatta.training.result.RunResult}: as values, as JSON in a file, in words. */
package io.regatta.training.result;
