/**
 * The strategy of collective mode: gradients summed among the ranks, whole, in buckets or by their largest elements,
 * and an update of each rank's own copy. The registry creates it, and each replica's step calls it.
 * Part of the public API.
 */
package io.regatta.training.strategy.collective;
