/**
 * Metrics of model quality whose sums do not depend on the number of ranks. Trainers update them; evaluation merges
 * them over the ranks. Part of the public API.
 */
package io.regatta.core.metrics;
