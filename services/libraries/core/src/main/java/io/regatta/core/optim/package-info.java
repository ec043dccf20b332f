/**
 * The optimizers: their hyperparameters, learning rates and update rules on plain arrays. Shards apply them, and so
 * do trainers that hold their own copy. Part of the public API.
 */
package io.regatta.core.optim;
