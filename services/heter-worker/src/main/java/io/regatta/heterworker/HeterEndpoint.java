package io.regatta.heterworker;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Clock;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.HeterHandler.Origin;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.WorkerLoad;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.CutSignatures;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The trainers of one heter worker: which have a stream, and which send their batches here. It queues the batches.
 * Owned by the verticle's event loop.
 */
final class HeterEndpoint implements TrainersEnd.Losses {

  private static final Logger LOG = LoggerFactory.getLogger(HeterEndpoint.class);
  private static final PeerLog LOSSES = PeerLog.ofEvents(LOG);
  private static final PeerLog FAULTS = PeerLog.ofEvents(LOG);

  private final JobConfig job;
  private final String name;
  private final int maxTrainers;
  private final Clock clock;
  private final BatchQueue queue;
  private final TrainersEnd end;
  private final String device;
  private final long startMillis;
  /** The cut of the first trainer; null: none has opened it yet. */
  private CutSignature first;
  /** The open stream of each rank: the one of its newest life. */
  private final Map<Integer, TrainerStream> streams = new TreeMap<>();
  /** The newest incarnation of each rank that has come. */
  private final Map<Integer, Long> incarnations = new TreeMap<>();
  /** Why no trainer is served any more; null: they are. */
  private RegattaException closed;

  /**
   * Creates the endpoint of a heter worker without trainers.
   *
   * @param name of the heter worker, for messages
   * @param end notified of streams; it reports the losses that it learns of to this object
   */
  HeterEndpoint(JobConfig job, String name, int maxTrainers, Clock clock, BatchQueue queue, TrainersEnd end) {
    this.job = job;
    this.name = name;
    this.maxTrainers = maxTrainers;
    this.clock = clock;
    this.queue = queue;
    this.end = end;
    device = job.heter().device();
    startMillis = clock.epochMillis();
  }

  /** Admits a trainer, and compares its cut with the own one once the part is built. */
  Future<CutOpened> open(TrainerStream stream, Origin from, CutOpen open) {
    if (!from.job().equals(job.job())) {
      throw new InvalidInput(name + " computes for job " + job.job() + ", not for job " + from.job()
          + "; start heter workers of that job in a cluster of its own");
    }
    end.came();
    admit(stream, from.trainer());
    queue.want();
    return Future.fromCompletionStage(queue.signature()).map(own -> {
      agree(own, open, "trainer " + from.trainer().rank());
      if (stream.home(open.getHome())) {
        tell();
      }
      return CutOpened.newBuilder().setSignature(own).setDevice(device).setLoad(load()).build();
    });
  }

  /** Compares a trainer's cut with the own one, and with that of the first trainer. */
  private void agree(CutSignature own, CutOpen open, String trainer) {
    boolean isFirst = first == null;
    first = CutSignatures.agree(job, own, first, open, trainer);
    if (isFirst) {
      LOG.info("{}: {}", name, CutSignatures.describe(job, first));
    }
  }

  private void admit(TrainerStream stream, TrainerId trainer) {
    int rank = trainer.rank();
    TrainerStream other = streams.get(rank);
    if (other == stream) {
      return;
    }
    if (closed != null) {
      throw closed;
    }
    if (rank < 0 || !job.worldSize().elastic() && rank >= job.trainers()) {
      throw new InvalidInput("trainer " + rank + " is none of the " + job.trainers() + " trainers of job " + job.job());
    }
    if (trainer.incarnation() < incarnations.getOrDefault(rank, 0L)) {
      throw new StaleGeneration("trainer " + rank + " of job " + job.job()
          + " has been replaced by a later life of its rank");
    }
    if (other == null && streams.size() >= maxTrainers) {
      throw new Overloaded(name + " serves " + streams.size() + " trainers, the limit (heter_worker.limits.trainers); "
          + "start more heter workers, or raise it");
    }
    streams.put(rank, stream);
    incarnations.put(rank, trainer.incarnation());
    if (other != null) {
      replaced(other);
    }
    end.opened(rank);
  }

  /** Ends the stream of a trainer that has opened another one: this one, or its former life, no longer uses it. */
  private void replaced(TrainerStream other) {
    TrainerId trainer = other.trainer();
    String what = "trainer " + trainer.rank() + " of job " + job.job() + " has opened another stream";
    other.giveUp(new StaleGeneration(what));
    LOSSES.warn("{}: {}", what, dropped(queue.drop(trainer)));
  }

  private static String dropped(BatchQueue.Dropped batches) {
    return batches.batches().isEmpty() ? "none of its batches waited" : batches + " dropped";
  }

  /** Queues a batch; completes with its result. */
  Future<ComputedBatch> compute(TrainerStream stream, BatchToCompute batch) {
    if (streams.get(batch.id().trainer().rank()) != stream) {
      throw new StaleGeneration("trainer " + batch.id().trainer().rank() + " of job " + job.job()
          + " has another stream by now");
    }
    CutSignatures.check(job, first, batch, "trainer " + batch.id().trainer().rank());
    return Future.fromCompletionStage(queue.add(batch)).map(result -> {
      if (!Double.isFinite(result.head().getLoss())) {
        FAULTS.warn("{}: the loss of step {} of trainer {} of job {} is {}", name, batch.head().getStep(),
            batch.id().trainer().rank(), job.job(), result.head().getLoss());
      }
      return new ComputedBatch(result.id(), result.head().toBuilder().setLoad(load()).build(), result.tensors());
    });
  }

  /** Notes the end of a stream. Without a clean end, its trainer is lost, and its batches with it. */
  void closed(TrainerStream stream, boolean clean) {
    int rank = stream.trainer().rank();
    if (streams.get(rank) != stream) {
      return; // it has been replaced, or was refused
    }
    streams.remove(rank);
    BatchQueue.Dropped batches = queue.drop(stream.trainer());
    if (!clean && closed == null && !end.hasLeft(stream.trainer())) {
      LOSSES.warn("trainer {} of job {} is lost: {}", rank, job.job(), dropped(batches));
    }
    end.closed(rank, clean);
    if (stream.home(false)) {
      tell();
    }
  }

  /** Ends the stream of a trainer that the rendezvous has declared lost. */
  @Override
  public void lost(TrainerId life) {
    TrainerStream stream = streams.get(life.rank());
    if (stream != null && stream.trainer().incarnation() <= life.incarnation()) {
      stream.giveUp(new StaleGeneration("trainer " + life.rank() + " of job " + job.job()
          + " was declared lost by the rendezvous; join the group again"));
    }
  }

  /** Ends all streams, and refuses others. */
  void close(RegattaException reason) {
    if (closed == null) {
      closed = reason;
      List.copyOf(streams.values()).forEach(stream -> stream.giveUp(reason));
    }
  }

  private void tell() {
    WorkerLoad load = load();
    List.copyOf(streams.values()).forEach(stream -> stream.tell(load)); // a stream that fails leaves meanwhile
  }

  private WorkerLoad load() {
    int trainers = 0;
    int highest = -1;
    for (Map.Entry<Integer, TrainerStream> entry : streams.entrySet()) {
      if (entry.getValue().isHome()) {
        trainers++;
        highest = entry.getKey();
      }
    }
    return WorkerLoad.newBuilder().setTrainers(trainers).setHighestRank(highest).setWaiting(queue.waiting()).build();
  }

  /** Returns the waits of the model thread: for a first trainer, or for a batch. */
  List<Wait> waits() {
    String where = "the cut of job " + job.job();
    if (incarnations.isEmpty()) {
      return List.of(new Wait(name, "first stream", where, startMillis,
          List.of(Wait.Peer.named("the " + job.trainers() + " trainers of the job"))));
    }
    long since = queue.idleSinceMillis();
    if (since < 0) {
      return List.of();
    }
    List<Wait.Peer> senders = streams.values().stream().filter(TrainerStream::isHome).map(stream -> new Wait.Peer(
        "trainer " + stream.trainer().rank(), stream.lastStep(), stream.lastSeenMillis())).toList();
    return List.of(new Wait(name, "next batch", where, since,
        senders.isEmpty() ? List.of(Wait.Peer.named("a trainer that sends its batches here")) : senders));
  }

  /** Returns the ranks whose batches come here, for the progress line: {@code 0, 1}. */
  String senders() {
    return streams.entrySet().stream().filter(entry -> entry.getValue().isHome())
        .map(entry -> entry.getKey().toString()).collect(Collectors.joining(", "));
  }

  long nowMillis() {
    return clock.epochMillis();
  }
}
