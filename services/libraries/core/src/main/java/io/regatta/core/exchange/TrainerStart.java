package io.regatta.core.exchange;

/**
 * The progress with which a trainer of a resumed run starts on the shards. Immutable.
 *
 * @param clock that every shard keeps of it from now on
 * @param progress that the snapshot contains of it
 */
public record TrainerStart(int rank, long clock, TrainerProgress progress) {}
