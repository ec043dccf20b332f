package io.regatta.rendezvous;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.google.protobuf.ByteString;
import io.regatta.core.error.RegattaException;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.GatherRequest;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.LeaseReply;
import io.regatta.protocol.rendezvous.LeaseRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.slf4j.LoggerFactory;

/** {@link Groups} on a clock that the test moves, and short words for what members do. One group, named {@code g}. */
final class VirtualGroups {

  static {
    // Hundreds of generated groups form and fall apart here; nobody reads their log.
    ((Logger) LoggerFactory.getLogger(Group.class.getPackageName())).setLevel(Level.ERROR);
  }

  /** The one answer to a call that may wait. */
  static final class Answer<T> implements BiConsumer<T, RegattaException> {
    T value;
    RegattaException error;
    Runnable gone;

    @Override
    public void accept(T result, RegattaException failure) {
      if (isDone() || (result == null) == (failure == null)) {
        throw new AssertionError("answered twice, or with neither or both of value and error");
      }
      value = result;
      error = failure;
    }

    boolean isDone() {
      return value != null || error != null;
    }
  }

  /** A watcher that records its calls. */
  static final class Views implements Watcher {
    final List<GroupView> views = new ArrayList<>();
    boolean ended;
    RegattaException brokenOff;

    @Override
    public void changed(Watcher.Views group) {
      views.add(group.since(0));
    }

    @Override
    public void end(RegattaException reason) {
      ended = true;
      brokenOff = reason;
    }

    GroupView last() {
      return views.get(views.size() - 1);
    }
  }

  static final long START = 1_700_000_000_000L;
  static final long LEASE = 10_000;
  static final long TICK = 100;
  static final long LONGEST_WAIT = 3_600_000;
  /** Limits that a test reaches with a few calls. */
  static final RendezvousConfig.Limits SMALL = RendezvousConfig.defaults().limits().with(l -> l.groups(1).members(2).names(20)
      .watchers(1).gathers(1).payloadBytes(4).gatherBytes(6).keys(1).valueBytes(4).storeBytes(4).waits(1).queues(1).items(2));

  final Groups groups;
  private final Map<Integer, JoinReply> members = new HashMap<>();
  private long nowMillis = START;

  VirtualGroups() {
    this(RendezvousConfig.defaults().limits());
  }

  VirtualGroups(RendezvousConfig.Limits limits) {
    groups = new Groups(RendezvousConfig.defaults()
        .with(c -> c.leaseMs(LEASE).tickMs(TICK).maxWaitMs(LONGEST_WAIT).limits(limits)), () -> nowMillis);
  }

  /** A group that has formed with all its ranks. */
  static VirtualGroups formed(int worldSize) {
    VirtualGroups g = new VirtualGroups();
    for (int rank = 0; rank < worldSize; rank++) {
      g.join(worldSize, rank);
    }
    return g;
  }

  Answer<JoinReply> join(int worldSize, int rank) {
    return join(worldSize, rank, "trainer-" + (rank < 0 ? "any" : rank), 60_000);
  }

  Answer<JoinReply> join(int worldSize, int rank, String member, long timeoutMillis) {
    Answer<JoinReply> answer = new Answer<>();
    answer.gone = groups.join(JoinRequest.newBuilder().setGroup("g").setWorldSize(worldSize).setRank(rank)
        .setMember(member).setTimeoutMs(timeoutMillis).build(), (reply, error) -> {
          answer.accept(reply, error);
          if (reply != null) {
            members.put(reply.getRank(), reply);
          }
        });
    return answer;
  }

  /** The latest incarnation that held the rank; 0 if nobody has. */
  long incarnation(int rank) {
    return members.getOrDefault(rank, JoinReply.getDefaultInstance()).getIncarnation();
  }

  void leave(int rank) {
    groups.leave("g", rank, incarnation(rank));
  }

  void heartbeat(int... ranks) {
    for (int rank : ranks) {
      groups.heartbeat("g", rank, incarnation(rank), 0);
    }
  }

  Answer<GatherReply> gather(int rank, String key, String payload) {
    return gather(rank, key, payload, 30_000);
  }

  Answer<GatherReply> gather(int rank, String key, String payload, long timeoutMillis) {
    return gather(giving(rank, incarnation(rank), key).toBuilder().setPayload(ByteString.copyFromUtf8(payload))
        .setTimeoutMs(timeoutMillis).build());
  }

  /** A request with a payload of one byte. */
  static GatherRequest giving(int rank, long incarnation, String key) {
    return GatherRequest.newBuilder().setGroup("g").setRank(rank).setIncarnation(incarnation).setKey(key)
        .setPayload(ByteString.copyFrom(new byte[1])).setTimeoutMs(30_000).build();
  }

  Answer<GatherReply> gather(GatherRequest request) {
    Answer<GatherReply> answer = new Answer<>();
    answer.gone = groups.gather(request, to(answer));
    return answer;
  }

  /** A member that is sent its answer at once. */
  static GatherCaller to(Answer<GatherReply> answer) {
    return (reply, error, sent) -> {
      answer.accept(reply, error);
      sent.run();
    };
  }

  LeaseReply lease(int rank, List<String> items, String... done) {
    return lease(rank, items, List.of(done), List.of());
  }

  LeaseReply lease(int rank, List<String> items, List<String> done, List<String> held) {
    return groups.lease(LeaseRequest.newBuilder().setGroup("g").setRank(rank).setIncarnation(incarnation(rank))
        .setQueue("files").addAllItems(items).addAllDone(done).addAllHeld(held).build());
  }

  Views watch() {
    Views views = new Views();
    groups.watch("g", views);
    return views;
  }

  /** Lets time pass tick by tick while the given ranks keep sending heartbeats. */
  void pass(long millis, int... alive) {
    for (long end = nowMillis + millis; nowMillis < end;) {
      nowMillis += Math.min(TICK, end - nowMillis);
      heartbeat(alive);
      groups.expire();
    }
  }

  /** Lets time pass in which the rendezvous does not run at all. */
  void freeze(long millis) {
    nowMillis += millis;
  }

  static List<String> payloads(GatherReply reply) {
    return reply.getPayloadsList().stream().map(ByteString::toStringUtf8).toList();
  }
}
