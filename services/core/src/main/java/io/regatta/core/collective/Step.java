package io.regatta.core.collective;

/**
 * One message that a rank sends or takes in a collective call.
 *
 * @param kind what is done
 * @param peer the other rank
 * @param from first element of this rank's vector
 * @param count how many; 0 is a message all the same
 * @param after index of the step of the same schedule that must be done before: taken in, or sent so that the memory
 *     is this rank's again; -1 for none
 * @param completes a reduction: with this step these elements are those of all ranks, so that {@link Tensor#complete} is due
 */
public record Step(Kind kind, int peer, int from, int count, int after, boolean completes) {

  /** What is done. */
  public enum Kind {
    /** The elements go to the peer; done when it has them or they lie elsewhere. */
    SEND,
    /** As {@link #SEND} of a copy: done at once, for both partners write to what they have sent to each other. */
    SEND_COPIED,
    /** The peer's elements replace these. */
    COPY,
    /** The peer's elements are reduced into these. */
    REDUCE
  }

  /** {@link #after} of a step that need not wait. */
  public static final int NOTHING = -1;

  /** Whether it is the first to send this rank's own elements, or to reduce others into them: none before has. */
  public boolean isFirst() {
    return after == NOTHING && kind != Kind.COPY;
  }

  /** Whether this rank sends, rather than takes. */
  public boolean sends() {
    return kind == Kind.SEND || kind == Kind.SEND_COPIED;
  }
}
