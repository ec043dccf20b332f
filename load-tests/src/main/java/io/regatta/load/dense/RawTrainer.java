package io.regatta.load.dense;

import io.netty.buffer.ByteBuf;
import io.regatta.core.error.RegattaException.PeerLost;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * The trainer's end of a connection of {@link RawFrames}. Owned by the connection's loop; {@link #push} and {@link
 * #pull} are called by another thread, which waits.
 */
final class RawTrainer implements RawFrames.Sink, Peer.Client {
  private static final long LIMIT_SECONDS = 60;

  private final DenseTask task;
  private final Executor loop;
  private final RawWire wire;
  private final TrainerMemory memory;
  private CompletableFuture<Void> done;
  private int next;

  RawTrainer(DenseTask task, Executor loop, RawWire wire) {
    this.task = task;
    this.loop = loop;
    this.wire = wire;
    memory = new TrainerMemory(task);
    next = task.elements();
  }

  @Override
  public void push() throws Exception {
    request(() -> {
      next = 0;
      pump();
    });
  }

  @Override
  public void pull() throws Exception {
    request(() -> wire.send(RawFrames.PULL));
  }

  @Override
  public float[] values() {
    return memory.toArray();
  }

  private void request(Runnable begin) throws Exception {
    CompletableFuture<Void> answered = new CompletableFuture<>();
    loop.execute(() -> {
      done = answered;
      begin.run();
    });
    answered.get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  /** Notes that the connection is gone: answers will not arrive. */
  void lost() {
    if (done != null) {
      done.completeExceptionally(new PeerLost("the connection to the peer's shard is closed"));
    }
  }

  /** Sends chunks of the gradient while there is room. */
  void pump() {
    while (next < task.elements() && !wire.full()) {
      int n = Math.min(task.chunkElements(), task.elements() - next);
      wire.send(RawFrames.PUSH, memory.gradient(), next, n);
      next += n;
    }
  }

  @Override
  public void message(int what) {
    done.complete(null);
  }

  @Override
  public void begin(int what, int element) {
    memory.begin(element);
  }

  @Override
  public void payload(ByteBuf piece) {
    if (memory.take(piece.nioBuffer())) {
      done.complete(null);
    }
  }
}
