package io.regatta.core.collective.schedule;

import io.regatta.core.collective.Tensor;

/**
 * One message that a rank sends or takes in a collective call.
 *
 * @param kind what the rank does
 * @param peer the other rank
 * @param from first element of this rank's vector
 * @param count number of elements; 0 is a message all the same
 * @param after index of the step of the same schedule that must be done before: taken in, or sent so that the memory
 *     belongs to this rank again; -1 for none
 * @param completes true for a reduction after which these elements are those of all ranks, so that {@link
 *     Tensor#complete} must be called
 */
public record Step(Kind kind, int peer, int from, int count, int after, boolean completes) {

  /** The kinds of steps. */
  public enum Kind {
    /** The elements are sent to the peer; done when it has them, or when they have been copied. */
    SEND,
    /**
     * As {@link #SEND}, of a copy: done at once, because both partners write to the elements that they have sent to
     * each other.
     */
    SEND_COPIED,
    /** The peer's elements replace these. */
    COPY,
    /** The peer's elements are reduced into these. */
    REDUCE
  }

  /** {@link #after} of a step that need not wait. */
  public static final int NOTHING = -1;

  /** Returns true if it is the first step to send this rank's own elements, or to reduce others into them. */
  public boolean isFirst() {
    return after == NOTHING && kind != Kind.COPY;
  }

  /** Returns true if this rank sends, rather than takes. */
  public boolean sends() {
    return kind == Kind.SEND || kind == Kind.SEND_COPIED;
  }
}
