package io.regatta.trainer;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.shard.TrainerId;
import io.regatta.core.shard.Wait;
import io.regatta.node.Directory;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.Member;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This trainer's seat in its job's group: joins, keeps the lease alive on a connection of its own, gathers, leaves.
 * Owned by {@link TrainerVerticle}, on its event loop.
 */
final class GroupMembership {

  private static final Logger LOG = LoggerFactory.getLogger(GroupMembership.class);
  /** Heartbeats per lease: so many must be lost in a row before the rendezvous gives the trainer up. */
  private static final int BEATS_PER_LEASE = 4;

  private final Vertx vertx;
  private final JobConfig job;
  private final Duration timeout;
  private final RendezvousClient calls;
  private final RendezvousClient beats;
  private final LongSupplier step;
  private final Consumer<RegattaException> lost;
  private TrainerId id;
  private long generation;
  private List<String> endpoints = List.of();
  private long timer = -1;
  private boolean complained;
  private boolean left;

  /**
   * @param timeout how long to wait for the other members
   * @param step the last step that this rank has made, for heartbeats; -1 if none
   * @param lost told once if the rendezvous has given this trainer up
   */
  GroupMembership(Vertx vertx, JobConfig job, Duration timeout, Directory.Instance rendezvous, LongSupplier step,
      Consumer<RegattaException> lost) {
    this.vertx = vertx;
    this.job = job;
    this.timeout = timeout;
    this.step = step;
    this.lost = lost;
    calls = new RendezvousClient(vertx, rendezvous.host(), rendezvous.controlPort());
    beats = new RendezvousClient(vertx, rendezvous.host(), rendezvous.controlPort());
  }

  /**
   * Takes a seat and waits until the group is complete.
   *
   * @param rank wished for, -1 for any
   * @param member unique name of this life
   */
  Future<Void> join(int rank, String member, String endpoint) {
    return calls.join(job.job(), job.trainers(), rank, member, endpoint, timeout.toMillis()).map(this::joined);
  }

  private Void joined(JoinReply reply) {
    id = new TrainerId(reply.getRank(), reply.getIncarnation());
    seen(reply.getView());
    long period = Math.max(1, reply.getLeaseMs() / BEATS_PER_LEASE);
    timer = vertx.setPeriodic(period, t -> beat());
    return null;
  }

  private void seen(GroupView view) {
    generation = Math.max(generation, view.getGeneration());
    endpoints = view.getMembersList().stream().map(Member::getEndpoint).toList();
  }

  private void beat() {
    beats.heartbeat(job.job(), id.rank(), id.incarnation(), step.getAsLong()).onComplete(beat -> {
      if (left) {
        return;
      }
      if (beat.succeeded()) {
        generation = Math.max(generation, beat.result());
        complained = false;
      } else if (beat.cause() instanceof StaleGeneration || beat.cause() instanceof NotOwner) {
        end();
        lost.accept(new StaleGeneration("trainer " + id.rank() + " of job " + job.job()
            + " has been given up by the rendezvous, the others go on without it: " + beat.cause().getMessage()));
      } else if (!complained) {
        complained = true;
        LOG.warn("trainer {} of job {}: no answer to a heartbeat, training goes on and it is tried again: {}",
            id.rank(), job.job(), beat.cause().getMessage());
      }
    });
  }

  /** This trainer's rank and life; known once joined. */
  TrainerId id() {
    return id;
  }

  /** The latest generation that a reply has told us. */
  long generation() {
    return generation;
  }

  /** What the members announced, by rank. */
  List<String> endpoints() {
    return endpoints;
  }

  /** All active members' values in rank order, when all have given theirs. */
  Future<List<double[]>> gather(String key, double[] values) {
    ByteBuffer payload = ByteBuffer.allocate(values.length * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    payload.asDoubleBuffer().put(values);
    return calls.gather(job.job(), id.rank(), id.incarnation(), key, payload.array(), 0).map(reply ->
        reply.getPayloadsList().stream().map(bytes -> {
          double[] of = new double[bytes.size() / Double.BYTES];
          bytes.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(of);
          return of;
        }).toList());
  }

  /** The active members for whom the gather of this key waits, with their last steps; nobody if it is not open. */
  Future<List<Wait.Peer>> missing(String key) {
    return calls.groups(job.job()).map(reply -> reply.getGathersList().stream()
        .filter(gather -> gather.getKey().equals(key))
        .flatMap(gather -> gather.getMissingList().stream())
        .map(m -> new Wait.Peer("trainer " + m.getRank(), m.getLastStep(), m.getLastSeenMs())).toList());
  }

  /** Gives the seat up, if there is one, and closes the connections. */
  Future<Void> leave() {
    Future<Void> gone = id == null || left ? Future.succeededFuture()
        : calls.leave(job.job(), id.rank(), id.incarnation());
    end();
    return gone.onFailure(e -> LOG.warn("trainer {} of job {} could not leave its group: {}", id.rank(), job.job(),
        e.getMessage())).otherwiseEmpty().compose(v -> calls.close()).eventually(beats::close);
  }

  private void end() {
    left = true;
    vertx.cancelTimer(timer);
  }
}
