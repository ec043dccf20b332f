package io.regatta.core.collective.schedule;

import java.util.Arrays;

/**
 * A vector cut into parts, one for each rank of a ring, and each part into blocks, which are sent as units. A block has
 * at most {@code most} elements; an empty part has one empty block, so that every rank takes part in every call. For
 * each block this keeps the step of a rank's schedule after which it may be used next. Owned by the code that makes a
 * schedule.
 */
final class Blocks {
  private final int[] from;
  private final int[] count;
  /** First block of each part, then the number of blocks. */
  private final int[] first;
  /** Index of the last step on each block. */
  private final int[] ready;

  Blocks(int size, int ranks, int most) {
    Parts parts = new Parts(size, ranks);
    first = new int[ranks + 1];
    for (int r = 0; r < ranks; r++) {
      first[r + 1] = first[r] + Math.max(1, (int) (((long) parts.length(r) + most - 1) / most));
    }
    from = new int[first[ranks]];
    count = new int[first[ranks]];
    for (int r = 0; r < ranks; r++) {
      int n = first[r + 1] - first[r];
      Parts blocks = new Parts(parts.length(r), n);
      for (int b = 0; b < n; b++) {
        from[first[r] + b] = parts.from(r) + blocks.from(b);
        count[first[r] + b] = blocks.length(b);
      }
    }
    ready = new int[from.length];
    Arrays.fill(ready, Step.NOTHING);
  }

  /** Returns the first block of a part; for the index after the last part, the number of blocks. */
  int first(int part) {
    return first[part];
  }

  void send(Schedule to, int peer, int block) {
    to.send(peer, from[block], count[block], ready[block]);
  }

  /** Sends a copy, see {@link Step.Kind#SEND_COPIED}: the block may be written to as soon as it has been sent. */
  void sendCopied(Schedule to, int peer, int block) {
    ready[block] = to.sendCopied(peer, from[block], count[block], ready[block]);
  }

  void copy(Schedule to, int peer, int block) {
    ready[block] = to.copy(peer, from[block], count[block], ready[block]);
  }

  void reduce(Schedule to, int peer, int block, boolean completes) {
    ready[block] = to.reduce(peer, from[block], count[block], ready[block], completes);
  }
}
