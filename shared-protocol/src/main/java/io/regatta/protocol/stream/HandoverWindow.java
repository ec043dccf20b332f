package io.regatta.protocol.stream;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The limit of bytes on their way, in one direction, of all in-process streams between one client and one service: the
 * counterpart of the window of an HTTP/2 connection. Owned by the loop of the ends that send.
 */
final class HandoverWindow {
  private final int bytes;
  private final Set<HandoverStream> streams = new LinkedHashSet<>();
  private long outstanding;
  private boolean full;

  HandoverWindow(int bytes) {
    this.bytes = bytes;
  }

  /** Adds an end that sends within the window. */
  void add(HandoverStream stream) {
    streams.add(stream);
  }

  /** Removes an end that sends no more. */
  void remove(HandoverStream stream) {
    streams.remove(stream);
  }

  /** Returns the current ends that send within it. */
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

  /** Notifies all its streams when there is room again: any of them may wait for it. */
  void giveBack(long n) {
    outstanding -= n;
    if (full && outstanding <= bytes / 2) {
      full = false;
      streams().forEach(HandoverStream::roomForMore);
    }
  }
}
