package io.regatta.data;

/**
 * A batch of examples sent from one replica to another. Immutable once it has been sent.
 *
 * @param from the sender's replica
 * @param to the receiver's replica
 */
public record Parcel(int from, int to, SlotBatch examples) {}
