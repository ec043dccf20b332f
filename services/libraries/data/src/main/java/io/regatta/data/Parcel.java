package io.regatta.data;

/**
 * Some examples on their way from one trainer to another. Immutable once handed on.
 *
 * @param from the sender's replica
 * @param to the receiver's replica
 */
public record Parcel(int from, int to, SlotBatch examples) {}
