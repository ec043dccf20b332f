package io.regatta.protocol.call;

import io.regatta.core.error.RegattaException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.grpc.common.GrpcStatus;

/**
 * One control call of one client, as its server sees it: any number of answers, then a status. Used on the loop of the
 * port. If the client cancels the call or disconnects, its waits are withdrawn.
 *
 * @param <Q> request message
 * @param <A> answer message
 */
public interface ServerCall<Q, A> {

  /** Begins a call. */
  interface Serve<Q, A> {
    /** Serves a call. Returns the action to run if the client cancels the call or disconnects. */
    Runnable begin(Q request, ServerCall<Q, A> call);
  }

  /** Returns the {@link io.regatta.protocol.connection.PeerOrigin} of the call; empty if it has none. */
  String origin();

  /**
   * Lets the call's connection stay although it has not authenticated; returns the action to run when the call ends.
   */
  Runnable keepConnection();

  /** Returns true once the call has its status, or the client is gone. */
  boolean isOver();

  /** Sends one answer of several. */
  void write(A reply);

  /** Returns true if the client is slower than the answers; {@link #drainHandler} is called when there is room again. */
  boolean writeQueueFull();

  /** Sets the handler to call when there is room for answers again. */
  void drainHandler(Handler<Void> handler);

  /** Returns the bytes by which an answer is sent. */
  Buffer framed(A reply);

  /**
   * Sends the last answer as {@link #framed} has made it, maybe for several calls.
   *
   * @return completes when it has been sent, or will not be
   */
  Future<Void> endWith(Buffer frame);

  /** Ends the call with success. */
  void end();

  /** Ends the call with the status of an error; one that is no {@link RegattaException} is a fault of this side. */
  void fail(Throwable error);

  /** Ends the call with a status and a text. */
  void fail(GrpcStatus status, String text);

  /** Sends the last answer. */
  default void end(A reply) {
    write(reply);
    end();
  }

  /** Answers with the result of a future. */
  default void answer(Future<A> answer) {
    answer.onSuccess(this::end).onFailure(this::fail);
  }
}
