package io.regatta.node.group;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Wait;
import io.regatta.core.group.WorldSize;
import io.regatta.core.reduce.Elementwise;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.RepeatedCall;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.message.GatheredMessages;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.protocol.vertx.LoopFutures;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service's seat in a group at the rendezvous: taken, kept by heartbeats on a connection of its own, left. Owned by
 * the event loop on which it is created; {@link #missing} may be called on any thread.
 *
 * <p>A heartbeat that gets no answer is logged once and repeated: a rendezvous that is gone declares nobody lost. A
 * heartbeat that is refused ends the seat: the rendezvous has declared this life lost, or was restarted and knows
 * neither the group nor this member.
 */
public final class GroupMembership {

  private static final Logger LOG = LoggerFactory.getLogger(GroupMembership.class);
  private static final PeerLog TROUBLES = PeerLog.ofEvents(LOG);
  /** Limit for leaving: a frozen rendezvous declares this member lost when its lease ends. */
  private static final long LEAVE_MILLIS = 1000;

  private final MemberContext process;
  private final Directory.Instance rendezvous;
  private final String group;
  private final String kind;
  private final Consumer<RegattaException> givenUp;
  private final RendezvousClient calls;
  private final HeartbeatSender heartbeats;
  private int rank = -1;
  private long incarnation;
  private ByteString secret = ByteString.EMPTY;
  private long leaseMillis;
  private List<String> endpoints = List.of();
  private List<String> hosts = List.of();
  /** Incarnations of the members, by rank. */
  private List<Long> incarnations = List.of();
  /** The start of the job that this member belongs to; empty: none is named. */
  private String runId = "";
  /** How this member joined, and the size of its group; null before. */
  private JoinRequest request;
  private WorldSize size;
  /** The join under way. */
  private PatientJoin joining;
  /** True once it was left, or taken away: a join that is answered after that gives no seat. */
  private boolean over;
  /** Return of a seat that was given too late. */
  private Future<Void> tooLate = Future.succeededFuture();

  /**
   * Creates a seat to be taken by {@link #join}, on the loop of its owner.
   *
   * @param kind the members' kind, for messages, e.g. {@code trainer}
   * @param lastStep the last step that this member has made, sent with each heartbeat; -1 if none
   * @param changed receives the group's view after its membership has changed, one heartbeat later at most; several
   *     changes may come as one view
   * @param givenUp notified once, with the reason, if the rendezvous takes the seat away
   */
  public GroupMembership(MemberContext process, Directory.Instance rendezvous, String group, String kind, LongSupplier lastStep,
      Consumer<GroupView> changed, Consumer<RegattaException> givenUp) {
    this.process = process;
    this.rendezvous = rendezvous;
    this.group = group;
    this.kind = kind;
    this.givenUp = givenUp;
    calls = client();
    heartbeats = new HeartbeatSender(process.loop(), this::client, group, kind, lastStep, changed, this::refused);
  }

  private RendezvousClient client() {
    return new RendezvousClient(process.network(), rendezvous.host(), rendezvous.controlPort());
  }

  /** Names the start of the job that this member belongs to, before it joins; a run that has ended is refused with {@code RunEnded}. */
  public GroupMembership ofRun(String id) {
    runId = id;
    return this;
  }

  /**
   * Sends with each heartbeat how many examples this member has trained so far; the rendezvous keeps it after the
   * member's end.
   */
  public GroupMembership counting(LongSupplier examples) {
    heartbeats.counts(examples);
    return this;
  }

  /** As the longer form, in a group that begins with as many as there may be. */
  public Future<Void> join(String who, WorldSize of, int wanted, String member, String endpoint, Duration timeout) {
    return join(who, of, wanted, member, endpoint, timeout, Duration.ZERO);
  }

  /**
   * Takes a seat and waits until the group has formed; the wait stands in {@code /why}. A join that does not reach the
   * rendezvous is repeated until the node's ready timeout.
   *
   * @param who the process that joins, for messages
   * @param of size of the group, the same for all members
   * @param wanted rank, -1 for any
   * @param member name of this life in messages to others, e.g. {@code trainer with pid 4711 on 10.0.0.7}
   * @param endpoint at which the other members reach this one; may be empty
   * @param settle how long nobody else must come before an elastic group begins with fewer than its maximum
   */
  public Future<Void> join(String who, WorldSize of, int wanted, String member, String endpoint, Duration timeout, Duration settle) {
    size = of;
    request = JoinRequest.newBuilder().setGroup(group).setMinWorldSize(of.elastic() ? of.min() : 0).setWorldSize(of.max())
        .setRank(wanted).setMember(member).setEndpoint(endpoint).setHost(process.host()).setSettleMs(settle.toMillis())
        .setRunId(runId).build();
    return patiently(who, request, timeout);
  }

  /**
   * Ends the generation of an elastic group and waits for the next one; rank, generation and endpoints are those of the
   * new one afterwards. The seat is kept meanwhile. A broken connection to the rendezvous is made again, unless the
   * rendezvous is silent for the node's ready timeout.
   *
   * @param ending whether the member is at its end, so that fewer than the minimum are enough
   * @param unreachable ranks of the generation that ends, to which this member's connections broke or could not be made
   * @param inVain whether this member has completed nothing in it
   */
  public Future<Void> reform(String who, Duration timeout, boolean ending, Collection<Integer> unreachable, boolean inVain) {
    return patiently(who, request.toBuilder().setIncarnation(incarnation).setSecret(secret).setEnding(ending)
        .setInVain(inVain)
        .addAllUnreachable(unreachable.stream().map(incarnations::get).toList()).build(), timeout);
  }

  private Future<Void> patiently(String who, JoinRequest join, Duration timeout) {
    joining = new PatientJoin(process, calls, join,
        new RepeatedCall.Words(who, "join of group " + group, "the rendezvous at " + rendezvous.endpoint()), timeout, size.elastic(),
        () -> missing(""));
    return joining.ask().map(this::joined);
  }

  private Void joined(JoinReply reply) {
    if (over) {
      tooLate = left(heartbeats.connection(), reply.getRank(), reply.getIncarnation(), reply.getSecret(), false, false);
      throw new Cancelled(kind + " " + reply.getRank() + " has left group " + group + " while it joined");
    }
    rank = reply.getRank();
    incarnation = reply.getIncarnation();
    secret = reply.getSecret();
    GroupView view = reply.getView();
    leaseMillis = reply.getLeaseMs();
    endpoints = view.getMembersList().stream().map(Member::getEndpoint).toList();
    hosts = view.getMembersList().stream().map(Member::getHost).toList();
    incarnations = view.getMembersList().stream().map(Member::getIncarnation).toList();
    heartbeats.begin(reply);
    return null;
  }

  /** Sends an extra heartbeat: the rendezvous has asked for one, or may have. */
  public void answer() {
    if (heartbeats.isAlive()) {
      heartbeats.beat();
    }
  }

  private void refused(RegattaException why) {
    over = true;
    giveUpJoining(why);
    givenUp.accept(why);
  }

  /** Returns this member's rank, once joined. */
  public int rank() {
    return rank;
  }

  /** Returns the incarnation of this life of the rank, once joined. */
  public long incarnation() {
    return incarnation;
  }

  /**
   * Returns the secret by which the rendezvous recognizes calls of this member, once joined; to be shown to nobody
   * else.
   */
  public ByteString secret() {
    return secret;
  }

  /** Returns the latest generation of the group that a reply has named. */
  public long generation() {
    return heartbeats.generation();
  }

  /**
   * Returns after how many milliseconds without a heartbeat the rendezvous declares a member lost; known once joined.
   */
  public long leaseMillis() {
    return leaseMillis;
  }

  /** Returns the endpoints that the members announced when the group was joined, by rank. */
  public List<String> endpoints() {
    return endpoints;
  }

  /** Returns the host that each member named when the group was joined, by rank. */
  public List<String> hosts() {
    return hosts;
  }

  /**
   * Gathers all active members' messages, of one type, in rank order, when all have given theirs. A key is used once.
   */
  public <M extends Message> Future<List<M>> gather(String key, M mine) {
    return calls.gather(group, rank, incarnation, key, mine.toByteArray(), 0)
        .map(reply -> GatheredMessages.read(key, mine, reply.getPayloadsList()));
  }

  /**
   * Reduces all active members' slices of an array of {@code ofValues} at the rendezvous. Returns one payload, and the
   * members that gave a slice. A key is used once.
   */
  public Future<GatherReply> reduce(String key, Elementwise how, double[] slice, long ofValues) {
    return calls.reduce(group, rank, incarnation, key, how, slice, ofValues, 0);
  }

  /**
   * Returns the members for which the gather of this key (empty: the join of the group) waits, with their last steps;
   * empty if it is not open.
   */
  public Future<List<Wait.Peer>> missing(String key) {
    return calls.groups(group).map(reply -> reply.getGathersList().stream()
        .filter(gather -> gather.getKey().equals(key))
        .flatMap(gather -> gather.getMissingList().stream())
        .map(m -> new Wait.Peer(kind + " " + m.getRank(), m.getLastStep(), m.getLastSeenMs())).toList());
  }

  /**
   * Returns the group as the rendezvous sees it now, with members that have left or are lost; empty if it has ended.
   */
  public Future<Optional<GroupView>> view() {
    return calls.groups(group).map(reply -> reply.getGroupsList().stream().findFirst());
  }

  /** Gives the seat up, if there is one, and closes the connections: a join under way fails. Never fails itself. */
  public Future<Void> leave() {
    return leave(false, false);
  }

  /**
   * Gives the seat up, and reports how this member ended.
   *
   * @param ended of a member of an elastic group: the group's purpose is fulfilled, so that newcomers are refused from
   *     now on
   * @param succeeded whether this member's run has ended with success, so that nothing is left to do for newcomers of
   *     the same run
   */
  public Future<Void> leave(boolean ended, boolean succeeded) {
    Future<Void> left = Future.succeededFuture();
    if (heartbeats.isAlive()) {
      heartbeats.last(calls); // on the same connection, and so before
      left = left(calls, rank, incarnation, secret, ended, succeeded);
    }
    over = true;
    heartbeats.end();
    giveUpJoining(new Cancelled(kind + " has left group " + group + " while it joined"));
    return left.transform(done -> calls.close()).transform(done -> tooLate).eventually(heartbeats::close).otherwiseEmpty();
  }

  private void giveUpJoining(RegattaException why) {
    if (joining != null) {
      joining.giveUp(why);
    }
  }

  private Future<Void> left(RendezvousClient by, int ofRank, long life, ByteString proof, boolean ended,
      boolean succeeded) {
    return LoopFutures.within(process.loop(), LEAVE_MILLIS, by.leave(group, ofRank, life, proof, ended, succeeded))
        .onFailure(this::notLeft);
  }

  /**
   * Handles a failure to leave. A rendezvous that is gone, often because everything stops at once, or was restarted,
   * holds no seat to give up.
   */
  private void notLeft(Throwable e) {
    if (e instanceof PeerLost || e instanceof NotOwner || e instanceof StaleGeneration) {
      LOG.debug("{} {} need not leave group {}: {}", kind, rank, group, e.getMessage());
    } else {
      TROUBLES.warn("{} {} could not leave group {}, its lease will end it: {}", kind, rank, group, e.getMessage());
    }
  }
}
