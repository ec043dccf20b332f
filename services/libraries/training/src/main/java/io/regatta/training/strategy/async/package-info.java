/** Async mode: every push is applied as it arrives. */
package io.regatta.training.strategy.async;
