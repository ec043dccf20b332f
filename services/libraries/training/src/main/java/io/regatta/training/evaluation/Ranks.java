package io.regatta.training.evaluation;

import io.regatta.core.metrics.BinaryMetrics;
import java.util.function.UnaryOperator;

/**
 * The part of a {@link io.regatta.training.Worker} that metrics need: this package does not see the whole.
 *
 * @param index this replica's number among all replicas of all trainers
 * @param count number of these
 * @param global merges binary metrics over all replicas
 * @param sum adds arrays of one length over all replicas
 */
public record Ranks(int index, int count, UnaryOperator<BinaryMetrics> global, UnaryOperator<double[]> sum) {}
