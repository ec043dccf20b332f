package io.regatta.core.exchange;

/**
 * The last push of one incarnation of a trainer that a snapshot is to contain. Immutable.
 *
 * @param sequence of that push, the same at all shards
 */
public record PushMark(int rank, long incarnation, long sequence) {}
