package io.regatta.node.group;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.protocol.client.KnownGroup;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import java.util.Iterator;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the group of one job at the rendezvous, the only one who declares losses, and tells who is gone. Owned by the
 * event loop on which {@link #start} is called; the follower is called there. A watch that breaks is begun again after
 * a pause until this is closed; a rendezvous that is gone declares nobody lost. One that was started anew knows no
 * group: if nobody knows this one at {@value #UNKNOWN_TIMES} attempts in a row, it has ended, or (if it was never seen)
 * ended before the first look at it, unless one of its trainers can still be heard. One that lives and has lost its
 * place in the directory to another keeps its groups, and is asked for them before those that are listed.
 */
public final class GroupWatch {

  /**
   * Who wants to know. Notified of all members when a watch begins, then of those that change: a call may be repeated, and must be
   * harmless then.
   */
  public interface Follower {

    /** A rank is held by this life; its older ones are gone. Views may be skipped, so this may be their only trace. */
    void active(TrainerId holder);

    /**
     * A life of a rank is over, and its older ones with it.
     *
     * @param left it went by its own will; else it was lost
     * @param succeeded it has left, and said that its run has ended with success
     */
    void gone(TrainerId life, boolean left, boolean succeeded);

    /** All that has changed was said. */
    void viewed();

    /** The group has ended: nobody up to this incarnation is in it any more. */
    void ended(long lastIncarnation);

    /** Whether a trainer of the job has a stream open here, and so can still be heard. */
    boolean connected();
  }

  private static final Logger LOG = LoggerFactory.getLogger(GroupWatch.class);
  private static final PeerLog ENDS = PeerLog.ofEvents(LOG);
  private static final PeerLog TROUBLES = PeerLog.ofEvents(LOG);
  private static final int UNKNOWN_TIMES = 30;
  private static final String ACTIVE = "active";
  private static final String LEFT = "left";

  private final Loop loop;
  private final Directory directory;
  private final Network network;
  private final String job;
  private final String who;
  private final long retryMillis;
  private final Follower follower;
  private final KnownGroup known = new KnownGroup();
  private RendezvousClient client;
  /** The rendezvous that has shown us the group; null: none yet. */
  private Instance seenAt;
  private long generation;
  private long lastIncarnation;
  private Timer retry = Timer.NONE;
  /** Attempts in a row at which every rendezvous said that it does not know the group. */
  private int unknown;
  private boolean complained;
  private boolean closed;

  /**
   * A watch that has not begun.
   *
   * @param loop owns the watch
   * @param network the way to the rendezvous
   * @param who who follows, for the log, e.g. {@code shard 0}
   */
  public GroupWatch(Loop loop, Directory directory, Network network, String job, String who, long retryMillis,
      Follower follower) {
    this.loop = loop;
    this.network = network;
    this.directory = directory;
    this.job = job;
    this.who = who;
    this.retryMillis = retryMillis;
    this.follower = follower;
  }

  /** The latest generation seen, 0 before the first view. */
  public long generation() {
    return generation;
  }

  /** Begins; called once. */
  public void start() {
    directory.list(Directory.RENDEZVOUS)
        .compose(found -> closed ? Future.succeededFuture() : watch(found))
        .onComplete(this::over);
  }

  /** What one that is no longer listed answers counts only if it shows the group: otherwise those listed are asked. */
  private Future<Void> watch(List<Instance> found) {
    boolean displaced = seenAt != null && found.stream().noneMatch(listed -> listed.id().equals(seenAt.id())
        || listed.endpoint().equals(seenAt.endpoint()));
    return displaced ? follow(seenAt).recover(e -> closed ? Future.succeededFuture() : watchListed(found))
        : watchListed(found);
  }

  /** A dead one may still be listed until its lease ends; the latest started is asked first, then the older ones. */
  private Future<Void> watchListed(List<Instance> found) {
    if (found.isEmpty()) {
      return Future.failedFuture(new PeerLost("there is no rendezvous in the directory"));
    }
    return watch(Directory.latestFirst(found).iterator(), null);
  }

  /** Fails as the first that failed otherwise than by not knowing the group, if there was one. */
  private Future<Void> watch(Iterator<Instance> left, Throwable failure) {
    Instance next = left.next();
    return follow(next).recover(e -> {
      if (e instanceof NotOwner && seenAt != null && next.id().equals(seenAt.id())) {
        return Future.succeededFuture();
      }
      Throwable worst = failure == null || failure instanceof NotOwner ? e : failure;
      return left.hasNext() && !closed ? watch(left, worst) : Future.failedFuture(worst);
    });
  }

  private Future<Void> follow(Instance rendezvous) {
    closeClient();
    client = new RendezvousClient(network, rendezvous.host(), rendezvous.controlPort());
    return client.follow(job, known, change -> seen(rendezvous, change)).ended();
  }

  private void seen(Instance rendezvous, GroupView change) {
    if (closed) {
      return;
    }
    complained = false;
    unknown = 0;
    seenAt = rendezvous;
    generation = change.getGeneration();
    for (Member m : change.getMembersList()) {
      lastIncarnation = Math.max(lastIncarnation, m.getIncarnation());
      tell(m);
    }
    follower.viewed();
  }

  private void tell(Member m) {
    TrainerId life = new TrainerId(m.getRank(), m.getIncarnation());
    if (m.getState().equals(ACTIVE)) {
      follower.active(life);
    } else {
      follower.gone(life, m.getState().equals(LEFT), m.getSucceeded());
    }
  }

  /** Notifies the follower again of what is known of one rank: a life of it has come, which may be over already. */
  public void repeat(int rank) {
    if (!closed && rank >= 0 && rank < known.members().size()) {
      tell(known.members().get(rank));
    }
  }

  /** Notifies the follower again of all that is known, for what it has begun since. Costs all members. */
  public void repeatAll() {
    for (int rank = 0; rank < known.members().size(); rank++) {
      repeat(rank);
    }
  }

  private void over(AsyncResult<Void> end) {
    closeClient();
    if (closed) {
      return;
    }
    unknown = end.cause() instanceof NotOwner ? unknown + 1 : 0;
    if (end.succeeded()) {
      follower.ended(lastIncarnation);
    } else if (unknown >= UNKNOWN_TIMES && seenAt != null) {
      ENDS.warn("{}: the rendezvous was started anew and no longer knows group {}: it has ended", who, job);
      follower.ended(lastIncarnation);
    } else if (unknown >= UNKNOWN_TIMES && !follower.connected()) {
      ENDS.warn("{}: no rendezvous knows group {} and none of its trainers is connected: it has ended", who, job);
      follower.ended(Long.MAX_VALUE);
    } else if (!complained) {
      complained = true;
      TROUBLES.warn("{} cannot follow group {} at the rendezvous and would not see a trainer die: {}. It tries again "
          + "every {} ms; training goes on", who, job, end.cause().getMessage(), retryMillis);
    }
    if (!closed) {
      retry = loop.after(retryMillis, this::start);
    }
  }

  private void closeClient() {
    RendezvousClient last = client;
    client = null;
    if (last != null) {
      last.close().onFailure(e -> LOG.debug("closing the watch of group {}: {}", PeerText.of(job), e.toString()));
    }
  }

  /** Ends the watch; nothing is told after it. */
  public void close() {
    closed = true;
    retry.cancel();
    closeClient();
  }
}
