package io.regatta.protocol.stream;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What streams by hand between one client and one service may have on their way in one direction, all together: what the
 * window of their connection is over HTTP/2. Owned by the loop of the ends that send.
 */
final class HandoverWindow {
  private final int bytes;
  private final Set<HandoverStream> streams = new LinkedHashSet<>();
  private long outstanding;
  private boolean full;

  HandoverWindow(int bytes) {
    this.bytes = bytes;
  }

  /** This end sends within the window from now on. */
  void add(HandoverStream stream) {
    streams.add(stream);
  }

  /** This end sends no more. */
  void remove(HandoverStream stream) {
    streams.remove(stream);
  }

  /** The ends that send within it, as they are now. */
  List<HandoverStream> streams() {
    return List.copyOf(streams);
  }

  boolean isFull() {
    return full;
  }

  void take(long n) {
    outstanding += n;
    full |= outstanding >= bytes;
  }

  /** Wakes all its streams when there is room again: any of them may be waiting for it. */
  void giveBack(long n) {
    outstanding -= n;
    if (full && outstanding <= bytes / 2) {
      full = false;
      streams().forEach(HandoverStream::roomForMore);
    }
  }
}
