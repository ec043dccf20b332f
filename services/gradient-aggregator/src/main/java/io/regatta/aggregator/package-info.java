/**
 * The gradient aggregator: a verticle that merges the pushes and sums of the trainers of a host before they leave it.
 * Trainers reach it as they would a shard; its main and the fleet deploy it. Part of the public API.
 */
package io.regatta.aggregator;
