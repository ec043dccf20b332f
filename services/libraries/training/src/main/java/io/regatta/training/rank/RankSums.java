package io.regatta.training.rank;

import ai.djl.nn.Block;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.model.BatchSums;
import io.regatta.training.model.SyncBatchNorm;
import io.regatta.training.session.PeerRanks;
import io.regatta.training.session.TrainerSession;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * {@link BatchSums} of one rank of a collective job, over streams of its own, because the other streams carry buckets
 * meanwhile.
 *
 * <p>The engine computes branches of a network in any order. So that all ranks' calls match, sums of the backward pass
 * are made in the reverse order of the forward pass, and a layer waits for its turn. The model thread runs the forward
 * pass, a few of the engine's threads the backward pass. The lock guards the turn, and is not held during a wait for
 * other ranks. Only the layer whose turn it is uses the memory of the sums.
 */
public final class RankSums implements BatchSums, AutoCloseable {

  /** Longest time of the engine's own work between two sums of the backward pass. */
  private static final Duration TURN = Duration.ofMinutes(1);

  private final TrainerSession session;
  private final PeerRanks peers;
  private final long turnNanos;
  private ByteBuffer memory = ByteBuffer.allocateDirect(0);
  /** Layers of the forward pass so far, and the layer whose backward sums are next. */
  private int layers;
  private int turn;
  /** True while a backward sum is running; and the time when the last one ended. */
  private boolean summing;
  private long summedNanos;
  private RegattaException failure;

  /** @param turn how long a layer waits for its turn while no sum is running */
  RankSums(TrainerSession session, PeerRanks peers, Duration turn) {
    this.session = session;
    summedNanos = session.clock().nanos();
    this.peers = peers;
    turnNanos = turn.toNanos();
  }

  /**
   * Connects the layers of a network over the ranks of a session; all ranks call it.
   *
   * @return empty if no layer sums over ranks, or there is one rank only
   * @throws InvalidInput if the job's ranks cannot do it
   */
  public static Optional<RankSums> attach(Block network, TrainerSession session) {
    List<SyncBatchNorm> norms = new ArrayList<>();
    collect(network, norms);
    if (norms.isEmpty()) {
      return Optional.empty();
    }
    if (session.isElastic()) { // regardless of the present number of ranks
      throw fixedOnly(session);
    }
    if (session.worldSize() == 1) {
      return Optional.empty();
    }
    PeerRanks ranks = session.ranks().orElseThrow(() -> fixedOnly(session)).peers();
    RankSums sums = new RankSums(session, session.await("streams for batch normalisation", ranks.apart("norm")), TURN);
    norms.forEach(norm -> norm.attach(sums));
    return Optional.of(sums);
  }

  private static InvalidInput fixedOnly(TrainerSession session) {
    return new InvalidInput("job " + session.job().job() + ": SyncBatchNorm sums over a fixed number of trainers in mode collective; "
        + "use BatchNorm in other modes and in elastic jobs");
  }

  private static void collect(Block block, List<SyncBatchNorm> into) {
    if (block instanceof SyncBatchNorm norm) {
      into.add(norm);
    }
    block.getChildren().values().forEach(child -> collect(child, into));
  }

  /** Begins a forward pass. */
  synchronized void begins() {
    layers = 0;
    turn = -1;
  }

  /** Checks that all ranks are outside of steps like this one; otherwise they would wait for each other. */
  void outside() {
    await("ranks outside of steps", new float[1]);
  }

  private void await(String operation, float[] sums) {
    try {
      session.await(operation, sum(sums));
    } catch (InvalidInput e) { // a rank within a step has met one that is outside
      throw new InvalidInput("job " + session.job().job() + ": with SyncBatchNorm every rank must take every step with a batch; "
          + "give all ranks the same number (data.drop_last: true), or use BatchNorm: " + e.getMessage(), e);
    }
  }

  @Override
  public int forward(float[] sums) {
    int layer;
    synchronized (this) {
      if (failure != null) { // one of its sums may still use the memory
        throw failure;
      }
      layer = layers++;
      turn = layer;
    }
    await("sums of batch normalisation, layer " + layer + " forward", sums);
    return layer;
  }

  @Override
  public void backward(int layer, float[] sums) {
    try {
      takeTurn(layer);
      sum(sums).join();
      passTurn();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed(new Cancelled("the backward pass was stopped"));
    } catch (CompletionException e) {
      throw failed(e.getCause() instanceof RegattaException known ? known : new Cancelled(e.toString()));
    } catch (RegattaException e) {
      throw failed(e);
    } catch (RuntimeException | Error e) { // otherwise the other layers would wait for the end of this turn
      throw failed(new Cancelled("trainer " + session.trainer().rank() + " of job " + session.job().job() + ": the sums of layer " + layer
          + " of its SyncBatchNorm failed in the backward pass: " + e));
    }
  }

  private synchronized void takeTurn(int layer) throws InterruptedException {
    long since = session.clock().nanos();
    while (turn != layer && failure == null) {
      if (summing) { // however slow a peer is; the sum itself fails if it is lost
        wait();
        continue;
      }
      since = summedNanos - since > 0 ? summedNanos : since;
      long left = turnNanos - (session.clock().nanos() - since);
      if (left <= 0) {
        throw new InvalidInput("trainer " + session.trainer().rank() + " of job " + session.job().job() + ": layer " + turn
            + " of its SyncBatchNorm, counted in the order of the forward pass, has no part in the loss; remove it from the network");
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    if (failure != null) {
      throw failure;
    }
    summing = true;
  }

  private synchronized void passTurn() {
    turn--;
    summing = false;
    summedNanos = session.clock().nanos();
    notifyAll();
  }

  private synchronized RegattaException failed(RegattaException why) {
    failure = failure == null ? why : failure;
    notifyAll();
    return failure;
  }

  /** Returns the reason why a backward pass has failed; empty if it has not. */
  synchronized Optional<RegattaException> failure() {
    return Optional.ofNullable(failure);
  }

  private CompletableFuture<Void> sum(float[] values) {
    if (memory.capacity() != values.length * Float.BYTES) {
      memory = ByteBuffer.allocateDirect(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }
    FloatBuffer floats = memory.asFloatBuffer();
    floats.put(0, values);
    return peers.sum(memory).thenRun(() -> floats.get(0, values));
  }

  /** Ends layers that still wait in the backward pass. */
  @Override
  public void close() {
    failed(new Cancelled("the trainer has been closed"));
  }
}
