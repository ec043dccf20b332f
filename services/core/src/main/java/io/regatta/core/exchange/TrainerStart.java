package io.regatta.core.exchange;

/**
 * Progress with which a trainer of a resumed run begins, as the shards are to keep it. Immutable.
 *
 * @param clock that every shard keeps of it from now on
 * @param progress what the snapshot contains of it
 */
public record TrainerStart(int rank, long clock, TrainerProgress progress) {}
