package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.stream.frame.WholeFrames;
import io.vertx.core.Future;
import io.vertx.core.Handler;

/**
 * One duplex stream of {@link TensorFrame}s, the same for both ends and for every transport. Owned by one loop: all
 * calls are made and all handlers are called on it. It reads nothing until {@link #receiver} is set, so that is set
 * last. After the frames comes either the end handler or the exception handler, once. A server may still answer after
 * the end; if the client is lost meanwhile, the exception handler is called. Nothing comes after this side has given
 * the stream up by {@link #fail} (or, as a server, by {@link #end}).
 */
public interface TensorStream {

  /** Returns the loop that owns the stream. */
  Loop loop();

  /** Returns the peer's address, for messages. */
  String peer();

  /** Sends one frame; completes when its payload may be reused, fails when the stream is gone. */
  Future<Void> send(TensorFrame frame);

  /**
   * Sends each later frame at once. By default frames sent while others are read leave together afterwards, which saves
   * system calls if many short ones are answered. Between peers that wait for each other that would make one idle while
   * the other works.
   */
  default TensorStream flushEach() {
    return this;
  }

  /** Returns true if the sender should hold back until the drain handler is called. */
  boolean writeQueueFull();

  /** Sets the handler that is called when the write queue has room again. */
  TensorStream drainHandler(Handler<Void> handler);

  /** Receives frames as they come. Setting it starts the reading. */
  TensorStream receiver(FrameReceiver receiver);

  /** Receives whole frames, each with an array of its own: one copy more. Setting it starts the reading. */
  default TensorStream handler(Handler<TensorFrame> handler) {
    return receiver(new WholeFrames(handler));
  }

  /** Holds the peer back: no more is read from the network than the flow-control window allows. */
  TensorStream pause();

  /** Continues after {@link #pause}. */
  TensorStream resume();

  /** Sets the handler of a clean end: a client has half-closed, a server has answered with status 0. */
  TensorStream endHandler(Handler<Void> handler);

  /** Sets the handler of other ends: the peer failed, was lost, answered with another status, or sent garbage. */
  TensorStream exceptionHandler(Handler<RegattaException> handler);

  /**
   * Ends this side: a client half-closes and continues to read; a server answers with status 0, and the stream is over.
   * Sends of payloads in {@code SharedMemory} must have completed before.
   */
  Future<Void> end();

  /** Gives the stream up: a server answers with the error's status, a client resets and the text stays with it. */
  Future<Void> fail(RegattaException error);

  /**
   * Cuts the stream off at once, with its connection if it has one: for a peer that reads nothing more. Borrowed memory
   * is the sender's again: its sends complete in this task or the next ones, whatever the peer does.
   */
  void sever();
}
