/**
 * Sums of gradients over trainers, in an order that makes the bits the same every time. Shards use it for their rounds,
 * aggregators for their hosts and trainers for their replicas.
 */
package io.regatta.core.reduce;
