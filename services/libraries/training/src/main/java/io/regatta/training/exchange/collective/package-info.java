/**
 * The exchange of collective mode: gradients summed among the ranks, whole, in buckets or by their largest elements,
 * and an update of each rank's own copy. {@code Exchanges} makes it, and each replica's step calls it.
 */
package io.regatta.training.exchange.collective;
