package io.regatta.trainer.heter;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.CutTensors;
import io.regatta.protocol.heter.HeterHandler;
import io.regatta.protocol.heter.HeterStreamSession;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.WorkerLoad;
import io.regatta.protocol.testing.SimulatedNetwork;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** A heter worker of a simulation: it computes after a while, one batch after the other. */
final class SimulatedHeterWorker implements HeterHandler {
  private static final int PORT = 1;

  /** A batch that has come. */
  record Came(int rank, int replica, long number) {}

  final Directory.Instance instance;
  final List<Came> came = new ArrayList<>();
  final List<Integer> cleanEnds = new ArrayList<>();
  /** Ranks whose home it is. */
  final TreeSet<Integer> homes = new TreeSet<>();
  private final Loop loop;
  private final long computeMillis;
  private final List<HeterStreamSession> sessions = new ArrayList<>();
  /** Computes nothing from now on, as a frozen process. */
  boolean frozen;
  boolean refuses;
  /** Has no room for a trainer, or for a batch of one that it has. */
  boolean full;
  /** Has no room for batches, but takes trainers. */
  boolean fullForBatches;
  /** Number of requests to open. */
  int opens;
  /** Completes when it answers requests to open, as a worker whose part has been built. */
  Promise<Void> built = Promise.promise();

  SimulatedHeterWorker(Loop loop, SimulatedNetwork network, int index, long computeMillis, StreamOptions options) {
    this.loop = loop;
    this.computeMillis = computeMillis;
    built.complete();
    String host = "heter-" + index;
    instance = new Directory.Instance(Directory.HETER_WORKER, host, index, host, PORT, index, Map.of());
    network.listen(loop, host, PORT).streams(StreamPaths.HETER_COMPUTE,
        stream -> sessions.add(HeterStreamSession.serve(stream, this, options)));
  }

  private WorkerLoad load() {
    return WorkerLoad.newBuilder().setTrainers(homes.size()).setHighestRank(homes.isEmpty() ? -1 : homes.last())
        .build();
  }

  @Override
  public Future<CutOpened> open(Origin from, CutOpen open) {
    opens++;
    if (refuses) {
      return Future.failedFuture(new InvalidInput("another program runs here"));
    }
    if (full) {
      return Future.failedFuture(new Overloaded("no room at " + instance.host()));
    }
    return built.future().map(v -> opened(from, open));
  }

  private CutOpened opened(Origin from, CutOpen open) {
    boolean changed = open.getHome() ? homes.add(from.trainer().rank()) : homes.remove(from.trainer().rank());
    if (changed) {
      sessions.forEach(session -> session.tell(load()));
    }
    return CutOpened.newBuilder().setLoad(load()).build();
  }

  @Override
  public Future<ComputedBatch> compute(Origin from, BatchToCompute batch) {
    TrainerId trainer = from.trainer();
    if (full || fullForBatches) {
      return Future.failedFuture(new Overloaded("no room at " + instance.host()));
    }
    came.add(new Came(trainer.rank(), batch.id().replica(), batch.id().number()));
    Promise<ComputedBatch> computed = Promise.promise();
    loop.after(computeMillis, () -> {
      if (!frozen) {
        computed.tryComplete(CutTensors.echo(batch));
      }
    });
    return computed.future();
  }

  @Override
  public void closed(Origin from, boolean clean) {
    homes.remove(from.trainer().rank());
    if (clean) {
      cleanEnds.add(from.trainer().rank());
    }
  }

  /** Breaks all streams, as the end of the process does. */
  void die() {
    frozen = true;
    loop.execute(() -> sessions.forEach(session -> session.giveUp(new PeerLost("its process has ended"))));
  }
}
