package io.regatta.heterworker;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Clock;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.HeterHandler.Origin;
import io.regatta.protocol.stream.request.RequestMemory;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.WorkerLoad;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.CutSignatures;
import io.regatta.training.heter.queue.BatchQueue;
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
final class HeterEndpoint implements TrainerRegister.Streams {

  private static final Logger LOG = LoggerFactory.getLogger(HeterEndpoint.class);
  private static final PeerLog LOSSES = PeerLog.ofEvents(LOG);
  private static final PeerLog FAULTS = PeerLog.ofEvents(LOG);

  private final JobConfig job;
  private final String name;
  private final TrainerRegister register;
  private final RequestMemory memory;
  private final Clock clock;
  private final BatchQueue queue;
  private final TrainersEnd end;
  private final String device;
  private final long startMillis;
  /** Agreed description of the cut; null before a trainer has agreed. */
  private CutSignature agreed;
  /** Inputs and labels of the first batch; null before it. */
  private List<CutTensor> first;
  /** The open stream of each rank: the one of its newest life. */
  private final Map<Integer, TrainerStream> streams = new TreeMap<>();

  /**
   * Creates the endpoint of a heter worker without trainers.
   *
   * @param name of the heter worker, for messages
   * @param register admits the trainers, and ends the streams of lives that are over
   * @param maxBytes of all batches until they are computed; further ones are not read
   * @param end notified of streams
   */
  HeterEndpoint(JobConfig job, String name, TrainerRegister register, long maxBytes, Clock clock, BatchQueue queue,
      TrainersEnd end) {
    this.job = job;
    this.name = name;
    this.register = register;
    memory = new RequestMemory(maxBytes);
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

  /** Compares a trainer's cut with the own one. */
  private void agree(CutSignature own, CutOpen open, String trainer) {
    CutSignatures.check(job, own, open, trainer);
    if (agreed == null) {
      agreed = own;
      LOG.info("{}: {}", name, CutSignatures.describe(job, own));
    }
  }

  /** Compares a batch with the cut, and with the job's first batch here. */
  private void check(BatchToCompute batch) {
    String trainer = "trainer " + batch.id().trainer().rank();
    List<CutTensor> crossing = CutSignatures.crossing(batch);
    if (first == null) {
      CutSignatures.checkFirst(job, agreed, crossing, trainer);
      first = crossing;
    } else {
      CutSignatures.same(job, first, crossing, trainer);
    }
  }

  private void admit(TrainerStream stream, TrainerId trainer) {
    int rank = trainer.rank();
    if (streams.get(rank) == stream) {
      return;
    }
    stream.admitted(register.admit(trainer));
    TrainerStream other = streams.put(rank, stream);
    if (other != null) {
      end(other, new StaleGeneration("trainer " + rank + " of job " + job.job() + " has opened another stream"));
    }
    end.opened(rank);
  }

  /** Ends a stream that its trainer no longer uses: the trainer, or a later life of it, has opened another one. */
  private void end(TrainerStream other, StaleGeneration why) {
    other.release();
    other.giveUp(why);
    LOSSES.warn("{}: {}", why.getMessage(), dropped(queue.drop(other.trainer())));
  }

  @Override
  public void replaced(TrainerId former, StaleGeneration why) {
    TrainerStream stream = streams.get(former.rank());
    if (stream != null && stream.trainer().incarnation() <= former.incarnation()) {
      streams.remove(former.rank());
      end(stream, why);
      if (stream.home(false)) {
        tell();
      }
    }
  }

  private static String dropped(BatchQueue.Dropped batches) {
    return batches.batches().isEmpty() ? "none of its batches waited" : batches + " dropped";
  }

  /** Queues a batch; completes with its result. */
  Future<ComputedBatch> compute(TrainerStream stream, BatchToCompute batch) {
    if (streams.get(batch.id().trainer().rank()) != stream) {
      throw new StaleGeneration("trainer " + batch.id().trainer().rank() + " of job " + job.job() + " has another stream by now");
    }
    check(batch);
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
    stream.release();
    BatchQueue.Dropped batches = queue.drop(stream.trainer());
    if (!clean && !register.isClosed() && !end.hasLeft(stream.trainer())) {
      LOSSES.warn("trainer {} of job {} is lost: {}", rank, job.job(), dropped(batches));
    }
    end.closed(rank, clean);
    if (stream.home(false)) {
      tell();
    }
  }

  @Override
  public void lost(TrainerId life, StaleGeneration why) {
    TrainerStream stream = streams.get(life.rank());
    if (stream != null && stream.trainer().incarnation() <= life.incarnation()) {
      stream.giveUp(why);
    }
  }

  /** Ends all streams, and refuses others. */
  void close(RegattaException reason) {
    register.close(reason);
    List.copyOf(streams.values()).forEach(stream -> stream.giveUp(reason));
  }

  private void tell() {
    WorkerLoad load = load();
    streams.values().forEach(stream -> stream.tell(load));
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
    if (register.isEmpty()) {
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
    return streams.entrySet().stream().filter(entry -> entry.getValue().isHome()).map(entry -> entry.getKey().toString())
        .collect(Collectors.joining(", "));
  }

  /** Returns the memory of the batches of all trainers, until they are computed. */
  RequestMemory memory() {
    return memory;
  }

  long nowMillis() {
    return clock.epochMillis();
  }
}
