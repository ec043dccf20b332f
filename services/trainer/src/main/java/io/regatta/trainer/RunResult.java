package io.regatta.trainer;

import java.util.List;
import java.util.Map;

/**
 * The line of truth of a run: what {@code --result FILE} writes, in this order. Figures that the program did not
 * report are NaN (null in JSON).
 *
 * @param steps of this trainer's replica 0
 * @param examples trained by all replicas of all trainers
 * @param seconds of training, first step to last
 * @param stalenessMax highest staleness that a shard reported for a push of this trainer
 * @param pids process ids by role, e.g. {@code trainer-0}
 * @param model where it was saved, empty if it was not
 * @param parameters hash of all parameters at the end, hex; independent of the number of shards
 * @param metrics other figures that the program reported
 */
public record RunResult(String job, String mode, int servers, int trainers, int threads, int shards, long seed,
    int rank, long steps, long examples, double seconds, double examplesPerSecond, double loss, double auc,
    double accuracy, double logloss, long stalenessMax, long skipped, Map<String, Long> pids, String model,
    String parameters, Map<String, Double> metrics, List<Double> examplesPerSecondByRank) {}
