/**
 * Half-async mode: the replicas of a trainer are merged, and trainers do not wait for each other.
 * Part of the public API.
 */
package io.regatta.training.strategy.halfasync;
