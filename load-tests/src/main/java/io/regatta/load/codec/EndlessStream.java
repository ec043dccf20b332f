package io.regatta.load.codec;

import io.regatta.core.error.RegattaException;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import java.util.function.Consumer;

/** A stream without a peer, which takes frames at once and never ends. For one thread. */
public final class EndlessStream implements TensorStream {
  private Consumer<TensorFrame> sent = frame -> { };
  private FrameReceiver receiver;

  /** Sets the receiver of frames, which sees them while they are sent. */
  public void onSend(Consumer<TensorFrame> taker) {
    sent = taker;
  }

  /** Returns the receiver of arriving frames. */
  public FrameReceiver receiver() {
    return receiver;
  }

  @Override
  public Loop loop() {
    throw new UnsupportedOperationException("no loop");
  }

  @Override
  public String peer() {
    return "nobody";
  }

  @Override
  public Future<Void> send(TensorFrame frame) {
    sent.accept(frame);
    return Future.succeededFuture();
  }

  @Override
  public boolean writeQueueFull() {
    return false;
  }

  @Override
  public TensorStream drainHandler(Handler<Void> handler) {
    return this;
  }

  @Override
  public TensorStream receiver(FrameReceiver taker) {
    receiver = taker;
    return this;
  }

  @Override
  public TensorStream pause() {
    return this;
  }

  @Override
  public TensorStream resume() {
    return this;
  }

  @Override
  public TensorStream endHandler(Handler<Void> handler) {
    return this;
  }

  @Override
  public TensorStream exceptionHandler(Handler<RegattaException> handler) {
    return this;
  }

  @Override
  public Future<Void> end() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> fail(RegattaException error) {
    throw new IllegalStateException("the stream was given up", error);
  }

  @Override
  public void sever() {
    // nothing is borrowed
  }
}
