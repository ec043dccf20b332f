package io.regatta.core.exchange;

/**
 * Answer to a push, sent when it is applied, with rounds when its round has closed, or at once if it had been
 * applied before.
 *
 * @param version updates applied by the shard so far
 * @param staleness updates of others applied between this push's pull and its application; 0 with rounds
 * @param repeatedPush true if the push had been applied before and was not applied again
 * @param skippedPush true if the NaN policy dropped it
 */
public record PushAck(long version, long staleness, boolean repeatedPush, boolean skippedPush) {}
