/**
 * Metrics of predictions on test data, in training and in prediction.
 * {@link io.regatta.training.evaluation.EvaluationMetrics} lists them. Part of the public API.
 */
package io.regatta.training.evaluation;
