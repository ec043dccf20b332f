package io.regatta.core.feature;

/**
 * Statistics of a number, clipped and transformed, over the rows of training that hold it. Immutable.
 *
 * @param deviation standard deviation of the population
 */
public record NumberStatistics(double mean, double deviation, double min, double max) {}
