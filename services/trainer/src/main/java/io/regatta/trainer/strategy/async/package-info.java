/** Async mode: every push is applied as it arrives. */
package io.regatta.trainer.strategy.async;
