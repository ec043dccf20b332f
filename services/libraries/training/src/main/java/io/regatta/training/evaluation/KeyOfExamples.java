package io.regatta.training.evaluation;

/**
 * A key of examples among their labels, see {@link io.regatta.data.feature.KeyColumn}.
 *
 * @param column that it reads
 * @param at place of its first float among the labels of an example
 */
public record KeyOfExamples(String column, int at) {}
