package io.regatta.core.exchange;

/**
 * Last push of one life of a trainer that a snapshot is to contain. Immutable.
 *
 * @param sequence of that push, the same at all shards
 */
public record PushMark(int rank, long incarnation, long sequence) {}
