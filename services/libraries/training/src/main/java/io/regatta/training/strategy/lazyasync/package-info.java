/**
 * Lazy-async mode: every step is pushed and applied as in async, and values are pulled every k steps.
 * Part of the public API.
 */
package io.regatta.training.strategy.lazyasync;
