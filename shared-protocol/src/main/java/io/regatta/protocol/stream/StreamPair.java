package io.regatta.protocol.stream;

import io.regatta.core.loop.Loop;
import java.util.concurrent.Executor;

/**
 * The two ends of a tensor stream within one JVM: frames are transferred as they are, by tasks on the loop of the other
 * end. For networks that decide themselves when those tasks run.
 *
 * @param client end that has opened the stream
 * @param server end that takes it
 */
public record StreamPair(TensorStream client, TensorStream server) {

  /**
   * One end.
   *
   * @param loop owns the end
   * @param arrivals runs what comes from the other end on that loop, in order
   * @param peer name of the other end, for messages
   * @param options of which the windows and the size of messages are used
   */
  public record Side(Loop loop, Executor arrivals, String peer, StreamOptions options) {}

  /** Connects two ends that share no window with other streams. */
  public static StreamPair connect(Side client, Side server) {
    HandoverWindow toServer = new HandoverWindow(server.options.connectionWindowBytes());
    HandoverWindow toClient = new HandoverWindow(client.options.connectionWindowBytes());
    HandoverStream[] pair = HandoverStream.pair(end(client, toServer), end(server, toClient));
    toServer.add(pair[0]);
    toClient.add(pair[1]);
    return new StreamPair(pair[0], pair[1]);
  }

  private static HandoverStream.End end(Side side, HandoverWindow window) {
    return new HandoverStream.End(side.loop, side.arrivals, side.peer, side.options, window, window::remove);
  }
}
