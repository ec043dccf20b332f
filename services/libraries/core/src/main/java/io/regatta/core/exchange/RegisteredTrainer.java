package io.regatta.core.exchange;

/**
 * The state of one trainer on a shard, as {@code regatta status} shows it.
 *
 * @param state {@code active}, {@code left} or {@code lost}
 * @param lastStep last step pushed, -1 if none
 * @param lastSeenMillis wall clock of its last request
 */
public record RegisteredTrainer(int rank, long incarnation, String state, long lastStep, long lastSeenMillis) {}
