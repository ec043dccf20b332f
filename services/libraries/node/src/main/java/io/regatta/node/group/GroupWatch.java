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
 * A watch on the group of one job at the rendezvous, the only service that declares losses; it reports which members
 * are gone. Owned by the event loop on which {@link #start} is called; the follower is called there. A watch that
 * breaks is begun again after a pause until this is closed; a rendezvous that is gone declares nobody lost.
 *
 * <p>A rendezvous that was restarted knows no group. If no rendezvous knows the group at {@value #UNKNOWN_TIMES}
 * attempts in a row, the group has ended, unless one of its trainers is still connected. A group that was never seen
 * has then ended before the first look. A rendezvous that lives and has lost its place in the directory to another
 * keeps its groups, and is asked for them before the listed ones.
 */
public final class GroupWatch {

  /**
   * Receiver of the members' state. Notified of all members when a watch begins, then of changed ones. A call may be
   * repeated, and must then have no effect.
   */
  public interface Follower {

    /** A rank is held by this life; its older ones are gone. Views may be skipped, so this may be their only trace. */
    void active(TrainerId holder);

    /**
     * A life of a rank is over, and its older ones with it.
     *
     * @param left it left by itself; else it was lost
     * @param succeeded it has left, and reported that its run has ended with success
     */
    void gone(TrainerId life, boolean left, boolean succeeded);

    /** All changes of a view have been reported. */
    void viewed();

    /** The group has ended: no life up to this incarnation is in it any more. */
    void ended(long lastIncarnation);

    /** Returns true if a trainer of the job has a stream open here, and so is still connected. */
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
  /** The rendezvous that has shown the group; null: none yet. */
  private Instance seenAt;
  private long generation;
  private long lastIncarnation;
  private Timer retry = Timer.NONE;
  /** Number of attempts in a row at which every rendezvous answered that it does not know the group. */
  private int unknown;
  private boolean complained;
  private boolean closed;

  /**
   * Creates a watch that has not begun.
   *
   * @param loop owns the watch
   * @param network the way to the rendezvous
   * @param who the follower, for the log, e.g. {@code shard 0}
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

  /** Returns the latest generation seen, 0 before the first view. */
  public long generation() {
    return generation;
  }

  /** Begins; called once. */
  public void start() {
    directory.list(Directory.RENDEZVOUS)
        .compose(found -> closed ? Future.succeededFuture() : watch(found))
        .onComplete(this::over);
  }

  /**
   * Watches at a rendezvous that may no longer be listed. Its answer counts only if it shows the group; otherwise the
   * listed ones are asked.
   */
  private Future<Void> watch(List<Instance> found) {
    boolean displaced = seenAt != null && found.stream().noneMatch(listed -> listed.id().equals(seenAt.id())
        || listed.endpoint().equals(seenAt.endpoint()));
    return displaced ? follow(seenAt).recover(e -> closed ? Future.succeededFuture() : watchListed(found))
        : watchListed(found);
  }

  /**
   * Watches at the listed ones: the latest started is asked first, then the older ones, since a dead one may still be
   * listed until its lease ends.
   */
  private Future<Void> watchListed(List<Instance> found) {
    if (found.isEmpty()) {
      return Future.failedFuture(new PeerLost("there is no rendezvous in the directory"));
    }
    return watch(Directory.latestFirst(found).iterator(), null);
  }

  /** Asks one after another. Fails with the first failure that is not ignorance of the group, if there was one. */
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

  /** Notifies the follower again about one rank: a life of it has come, which may be over already. */
  public void repeat(int rank) {
    if (!closed && rank >= 0 && rank < known.members().size()) {
      tell(known.members().get(rank));
    }
  }

  /** Notifies the follower again about all ranks, for an interest that began since. Its cost grows with the members. */
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
      ENDS.warn("{}: the rendezvous was restarted and no longer knows group {}: it has ended", who, job);
      follower.ended(lastIncarnation);
    } else if (unknown >= UNKNOWN_TIMES && !follower.connected()) {
      ENDS.warn("{}: no rendezvous knows group {} and none of its trainers is connected: it has ended", who, job);
      follower.ended(Long.MAX_VALUE);
    } else if (!complained) {
      complained = true;
      TROUBLES.warn("{} cannot follow group {} at the rendezvous and would not see a trainer die: {}. It tries again "
          + "every {} ms; training continues", who, job, end.cause().getMessage(), retryMillis);
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

  /** Ends the watch; the follower is not called after it. */
  public void close() {
    closed = true;
    retry.cancel();
    closeClient();
  }
}
