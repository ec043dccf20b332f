package io.regatta.protocol.vertx;

import io.netty.channel.EventLoop;
import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.concurrent.TimeUnit;

/**
 * The loop of a Vert.x context. Two loops of one context are equal, and so are those of its duplicates, on which
 * requests and timers run. Netty runs consecutive tasks of {@link Context#runOnContext} for up to a second before it
 * looks at the sockets. So {@link #defer} goes through Netty's timers, which it looks at after the sockets.
 */
public final class VertxLoop implements Loop {
  private final ContextInternal context;

  private VertxLoop(ContextInternal context) {
    this.context = context;
  }

  /** Returns the loop of a context. */
  public static VertxLoop of(Context context) {
    return new VertxLoop((ContextInternal) context);
  }

  /**
   * Returns the loop of the calling context; of a new one, which is the calling thread's from then on, if there is
   * none.
   */
  public static VertxLoop current(Vertx vertx) {
    return of(vertx.getOrCreateContext());
  }

  /** Returns the context behind this loop. */
  public Context context() {
    return context;
  }

  /** Returns a promise whose future calls back on this loop. */
  public <T> Promise<T> promise() {
    return context.promise();
  }

  /**
   * Returns a promise whose future calls back on the calling context; where there is none, on the thread that completes
   * it.
   */
  public static <T> Promise<T> promiseOfCaller() {
    ContextInternal caller = ContextInternal.current();
    return caller == null ? Promise.promise() : caller.promise();
  }

  /** Returns the Netty event loop that runs this loop's tasks. */
  public EventLoop netty() {
    return context.nettyEventLoop();
  }

  /** Returns a future that has succeeded and calls back on this loop. */
  public <T> Future<T> succeeded(T value) {
    return context.succeededFuture(value);
  }

  /** Returns a future that has failed and calls back on this loop. */
  public <T> Future<T> failed(Throwable why) {
    return context.failedFuture(why);
  }

  /** Runs a task at once if the caller is on this loop, and otherwise on the loop's next turn. Any thread. */
  public void executeNow(Runnable task) {
    context.execute(task);
  }

  /** Calls a handler on this loop: at once if the caller is on it. What the handler throws is reported as the loop's. Any thread. */
  public <T> void emit(T value, Handler<T> handler) {
    context.emit(value, handler);
  }

  /**
   * Calls a handler at once as this loop's; the calling thread is its Netty event loop's, but not within a task of this
   * loop.
   */
  public <T> void dispatch(T value, Handler<T> handler) {
    context.dispatch(value, handler);
  }

  @Override
  public Clock clock() {
    return SystemClock.get();
  }

  @Override
  public boolean isCurrent() {
    ContextInternal current = ContextInternal.current();
    return current != null && current.unwrap() == context.unwrap();
  }

  @Override
  public void execute(Runnable task) {
    context.runOnContext(v -> task.run());
  }

  @Override
  public void defer(Runnable task) {
    context.nettyEventLoop().schedule(() -> context.runOnContext(v -> task.run()), 0, TimeUnit.NANOSECONDS);
  }

  @Override
  public Timer after(long millis, Runnable task) {
    long timer = context.setTimer(Math.max(1, millis), id -> task.run());
    return () -> context.owner().cancelTimer(timer);
  }

  @Override
  public Timer every(long millis, Runnable task) {
    long timer = context.setPeriodic(millis, id -> task.run());
    return () -> context.owner().cancelTimer(timer);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof VertxLoop loop && loop.context.unwrap() == context.unwrap();
  }

  @Override
  public int hashCode() {
    return context.unwrap().hashCode();
  }

  @Override
  public String toString() {
    return String.valueOf(context);
  }
}
