/** Async mode: every push is applied as it arrives. Part of the public API. */
package io.regatta.training.strategy.async;
