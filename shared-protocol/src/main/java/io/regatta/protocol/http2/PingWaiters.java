package io.regatta.protocol.http2;

import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.List;

/**
 * The streams of a connection that wait for a signal of the peer, or for their own end. The signal is a PING with data
 * of its own: it arrives although nothing of a stream is read. Owned by the connection's event loop.
 */
final class PingWaiters {
  /** Data of the PING that signals: check your condition again. Anything but the data of other PINGs; random. */
  static final long RING = 0x6e1f_52a9_c07d_4b38L;

  private final IntObjectMap<Runnable> waiting = new IntObjectHashMap<>();
  private final IntObjectMap<Runnable> ending = new IntObjectHashMap<>();

  PingWaiters(Http2Connection connection) {
    connection.addListener(new Http2ConnectionAdapter() {
      @Override
      public void onStreamClosed(Http2Stream closed) {
        ended(closed.id());
      }
    });
  }

  /** Calls this once, at the peer's next signal, unless the stream has ended before. */
  void onRing(int streamId, Runnable waits) {
    waiting.put(streamId, waits);
  }

  /** Notes a signal of the peer. */
  void rung() {
    List<Runnable> woken = List.copyOf(waiting.values());
    waiting.clear();
    woken.forEach(Runnable::run);
  }

  /** Calls this when the stream has ended both ways, however it ends. */
  void onEnd(int streamId, Runnable ended) {
    ending.put(streamId, ended);
  }

  private void ended(int streamId) {
    waiting.remove(streamId);
    Runnable told = ending.remove(streamId);
    if (told != null) {
      told.run();
    }
  }
}
