package io.regatta.heterworker;

import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.HeterHandler;
import io.regatta.protocol.heter.HeterStreamSession;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.request.RequestMemory;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.WorkerLoad;
import io.vertx.core.Future;
import java.util.function.Supplier;

/** One trainer's stream at a heter worker. Owned by the verticle's event loop. */
final class TrainerStream implements HeterHandler {

  private final HeterEndpoint endpoint;
  private HeterStreamSession session;
  /** Null until the first request. */
  private TrainerId trainer;
  /** Ends the admission of the trainer. */
  private Runnable release = () -> { };
  private boolean home;
  private long lastStep = -1;
  private long lastSeenMillis;

  private TrainerStream(HeterEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  /** Serves a stream until it ends. */
  static void serve(TensorStream stream, HeterEndpoint endpoint, StreamOptions options) {
    TrainerStream served = new TrainerStream(endpoint);
    served.session = HeterStreamSession.serve(stream, served, options);
  }

  @Override
  public RequestMemory memory() {
    return endpoint.memory();
  }

  @Override
  public Future<CutOpened> open(Origin from, CutOpen open) {
    return attempt(() -> {
      trainer = from.trainer();
      return endpoint.open(this, from, open);
    });
  }

  @Override
  public Future<ComputedBatch> compute(Origin from, BatchToCompute batch) {
    return attempt(() -> {
      lastStep = batch.head().getStep();
      lastSeenMillis = endpoint.nowMillis();
      return endpoint.compute(this, batch);
    });
  }

  private static <T> Future<T> attempt(Supplier<Future<T>> call) {
    try {
      return call.get();
    } catch (RuntimeException | Error e) { // a defect, or no memory: the peer gets the error and the loop continues
      return Future.failedFuture(e);
    }
  }

  @Override
  public void closed(Origin from, boolean clean) {
    endpoint.closed(this, clean);
  }

  /** Keeps what ends the admission of the trainer. */
  void admitted(Runnable ending) {
    release = ending;
  }

  /** Ends the admission of the trainer. May be repeated. */
  void release() {
    Runnable last = release;
    release = () -> { };
    last.run();
  }

  TrainerId trainer() {
    return trainer;
  }

  /** Returns true if the trainer sends its batches to this heter worker. */
  boolean isHome() {
    return home;
  }

  /** Notes whether the trainer sends its batches to this heter worker; returns true if that has changed. */
  boolean home(boolean here) {
    boolean changed = home != here;
    home = here;
    return changed;
  }

  /** Returns the step of the trainer's last batch; -1 if none has come. */
  long lastStep() {
    return lastStep;
  }

  /** Returns when the last batch came, ms since the epoch; 0 if none has come. */
  long lastSeenMillis() {
    return lastSeenMillis;
  }

  void tell(WorkerLoad load) {
    if (session != null) {
      session.tell(load);
    }
  }

  void giveUp(RegattaException reason) {
    if (session != null) {
      session.giveUp(reason);
    }
  }
}
