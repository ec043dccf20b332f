package io.regatta.collective.join;

import com.google.protobuf.ByteString;
import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.Seat;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.group.WorldSize;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.GroupMembership;
import io.regatta.node.group.MemberContext;
import io.regatta.protocol.client.KnownGroup;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.network.Watch;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A seat in an elastic group at the rendezvous service, kept by the heartbeats of a {@link GroupMembership}. A watch on
 * the group brings news at once; while it is broken, news come with a heartbeat. If another member reports this one as
 * lost, the rendezvous asks for a heartbeat through the watch. It cannot ask while the watch is broken, so a heartbeat
 * is sent when that breaks. Owned by the loop on which it is created.
 */
final class ServiceSeat extends AbstractSeat {
  private static final Logger LOG = LoggerFactory.getLogger(ServiceSeat.class);
  private static final PeerLog FORMATIONS = PeerLog.ofEvents(LOG);
  /**
   * Pause before a broken watch is begun again: shorter than the time that a rendezvous gives a member that it has
   * asked. It grows with each watch that breaks at once, so that a rendezvous that is gone is not flooded.
   */
  private static final long WATCH_SOON_MILLIS = 100;
  private static final long WATCH_LATEST_MILLIS = 1000;

  private final Joining joining;
  private final Consumer<ServiceSeat> over;
  private final GroupMembership seat;
  private final RendezvousClient watcher;
  private final KnownGroup known = new KnownGroup();
  private boolean forming = true;
  /** The last view that came while the generation formed: it may be newer than that, on a connection of its own. */
  private GroupView early;
  private long watchAgainMillis = WATCH_SOON_MILLIS;
  private boolean closed;

  /** Returns the secret by which the rendezvous recognizes calls of this seat; to be shown to nobody else. */
  ByteString secret() {
    return seat.secret();
  }

  ServiceSeat(Node node, Directory.Instance service, Joining joining, Consumer<ServiceSeat> over) {
    super(VertxLoop.current(node.vertx()));
    this.joining = joining;
    this.over = over;
    this.seat = new GroupMembership(MemberContext.of(node), service, joining.group(), "rank", () -> -1, this::seen, this::end)
        .ofRun(joining.runId());
    this.watcher = new RendezvousClient(node.network(), service.host(), service.controlPort());
  }

  Future<Seat> join() {
    Promise<Membership> joined = loop().promise();
    loop().execute(() -> seat.join(joining.member(), WorldSize.elastic(joining.minWorldSize(), joining.maxWorldSize()),
        joining.rank(), joining.member(), joining.endpoint(), joining.timeout(), joining.settle())
        .onSuccess(done -> watch()).onFailure(this::end).map(this::seated).onComplete(joined));
    return joined.future().map(this);
  }

  private Membership seated(Void joined) {
    if (closed) {
      throw givenUp(joining);
    }
    Membership formed = new Membership(joining.group(), seat.generation(), seat.rank(), seat.endpoints());
    begins(formed);
    forming = false;
    FORMATIONS.info("{} is {}", joining.member(), formed);
    if (early != null) {
      seen(early);
      early = null;
    }
    return formed;
  }

  private void watch() {
    if (closed) {
      return;
    }
    Watch watch = watcher.follow(joining.group(), seat.incarnation(), secret(), known, change -> {
      watchAgainMillis = WATCH_SOON_MILLIS;
      seen(known.view());
    });
    watch.ended().onComplete(done -> {
      if (!closed) {
        LOG.debug("the watch on group {} broke and is begun again: {}", joining.group(), done.cause());
        seat.answer();
        loop().after(watchAgainMillis, this::watch);
        watchAgainMillis = Math.min(2 * watchAgainMillis, WATCH_LATEST_MILLIS);
      }
    });
  }

  private void seen(GroupView view) {
    if (!closed && view.getAskedList().contains(seat.incarnation())) {
      seat.answer();
    }
    if (forming) {
      early = view;
    }
    if (closed || forming || view.getGeneration() < membership().generation()) {
      return;
    }
    if (view.getGeneration() > membership().generation()) {
      List<String> gone = view.getMembersList().stream().filter(member -> !member.getState().equals("active"))
          .map(ServiceSeat::described).toList();
      isOver("generation " + membership().generation() + " of group " + joining.group() + " is over: "
          + (gone.isEmpty() ? "a member forms the next one" : gone.toString()));
      if (!gone.isEmpty()) {
        areGone(gone.toString());
      }
    } else if (view.getWaitingCount() > 0) {
      hasNewcomers("newcomers of group " + joining.group() + ": " + view.getWaitingList());
    }
  }

  private static String described(Member member) {
    return "rank " + member.getRank() + " (" + member.getMember() + " at " + member.getEndpoint() + ") "
        + (member.getState().equals("left") ? "has left" : "is lost");
  }

  @Override
  public Future<Membership> reform(Reform how) {
    Promise<Membership> formed = loop().promise();
    loop().execute(() -> {
      if (forming || closed) {
        formed.fail(closed ? givenUp(joining) : new Conflict(joining.member() + " already waits for a generation of group "
            + joining.group() + "; call reform once for each"));
        return;
      }
      forming = true;
      isOver(joining.member() + " forms the next generation");
      seat.reform(joining.member(), how.timeout(), how.ending(), how.unreachable(), how.inVain()).map(this::seated)
          .onFailure(this::end).onComplete(formed);
    });
    return formed.future();
  }

  private void close(Throwable why) {
    closed = true;
    fail(why);
    over.accept(this);
  }

  private void end(Throwable why) {
    if (!closed) {
      close(why);
      seat.leave().eventually(watcher::close).onFailure(e -> LOG.debug("group {}: {}", joining.group(), e.toString()));
    }
  }

  @Override
  public Future<Void> leave(Leaving when) {
    Promise<Void> left = loop().promise();
    loop().execute(() -> {
      if (closed) {
        left.complete();
        return;
      }
      close(new Cancelled(joining.member() + " has left group " + joining.group()));
      seat.leave(when != Leaving.BEFORE_THE_END, when == Leaving.WITH_SUCCESS).eventually(watcher::close).otherwiseEmpty().onComplete(left);
    });
    return left.future();
  }
}
