/**
 * Downpour mode: gradients are added up and pushed every few steps, and values are pulled every few steps.
 * Part of the public API.
 */
package io.regatta.training.strategy.downpour;
