package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Wait;
import io.regatta.core.group.WorldSize;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.OpenGather;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The members of one group, with their ranks and incarnations, and the joins that still wait. Owned by {@link Groups},
 * on its thread; it changes its state first and answers last.
 *
 * <p>Its {@link Formation} decides how it forms, and how it lets later members in.
 */
final class Group {
  private static final Logger LOG = LoggerFactory.getLogger(Group.class);
  /** A heartbeat of a dead holder may lie unread for this long while its next life joins. */
  private static final long STALE_MILLIS = 500;
  static final PeerLog FORMATIONS = PeerLog.ofEvents(LOG);
  private static final PeerLog DEPARTURES = PeerLog.ofEvents(LOG);
  private static final PeerLog LOSSES = PeerLog.ofEvents(LOG);

  private final String name;
  private final WorldSize size;
  private final Formation formation;
  private final RendezvousConfig config;
  private final Issuer issuer;
  private final LongSupplier clock;
  private final Seats seats;
  private final JoinQueue joinQueue;
  private final Set<Watcher> watchers = new LinkedHashSet<>();
  private final Gathers gathers;
  private final GroupStore store;
  private final WorkQueues queues;
  /** True once a member has left and reported that the run has ended with success. */
  private boolean succeeded;
  /** Run ids of all members so far, not of joins that only waited; each machine's launcher may have its own. */
  private final Set<String> runIds = new LinkedHashSet<>();
  private final ViewLog views;
  /**
   * Views built for watchers so far, by the number since which they count, while watchers are notified. Null at other
   * times.
   */
  private Map<Long, GroupView> shared;
  private long generation;

  /** @param first join, which defines the group */
  Group(JoinRequest first, RendezvousConfig config, Issuer issuer, LongSupplier clock) {
    this.name = first.getGroup();
    this.size = size(first);
    this.config = config;
    this.issuer = issuer;
    this.clock = clock;
    this.generation = issuer.openingGeneration(clock.getAsLong());
    this.views = new ViewLog(generation);
    this.seats = new Seats(name, size.max(), clock);
    this.joinQueue = new JoinQueue(name, size.max(), size.elastic() ? 0 : STALE_MILLIS);
    this.formation = size.elastic()
        ? new ElasticFormation(this, new Elastic(name, size, first.getSettleMs()), joinQueue, issuer, config)
        : new FixedFormation(this, size.max(), seats, joinQueue, issuer, config);
    this.gathers = new Gathers(this, config.limits(), issuer, clock);
    this.store = new GroupStore(name, config.limits(), clock);
    this.queues = new WorkQueues(name, config.limits());
  }

  /** Returns what a join says of the size of its group: without a minimum it is fixed. */
  private static WorldSize size(JoinRequest of) {
    return of.getMinWorldSize() == 0 ? WorldSize.fixed(of.getWorldSize())
        : WorldSize.elastic(of.getMinWorldSize(), of.getWorldSize());
  }

  String name() {
    return name;
  }

  Gathers gathers() {
    return gathers;
  }

  GroupStore store() {
    return store;
  }

  WorkQueues queues() {
    return queues;
  }

  List<GroupMember> holders() {
    return seats.all();
  }

  /**
   * Takes a rank, at once if the group has formed, else when it forms.
   *
   * @return to be run when the caller has gone: withdraws a join that still waits
   */
  Runnable join(JoinRequest request, long timeoutMillis, BiConsumer<JoinReply, RegattaException> done) {
    long now = clock.getAsLong();
    if (!size(request).equals(size)) {
      throw new Conflict("group " + name + " has world size " + size + ", and this member joins with world size " + size(request)
          + "; it must be the same for all members of a group");
    }
    boolean newcomer = request.getIncarnation() == 0;
    if (newcomer && runIds.contains(request.getRunId()) && succeeded) {
      throw nothingLeft(request);
    }
    return formation.join(request, now, now + timeoutMillis, done);
  }

  /** Returns the error of a newcomer of a run that has ended with success. */
  RunEnded nothingLeft(JoinRequest newcomer) {
    return new RunEnded("run " + newcomer.getRunId() + " of job " + name + " has ended with success, and its last "
        + "members are leaving: nothing is left to do for " + newcomer.getMember()
        + ". To train again, start the job with another run id");
  }

  /** Seats one member that takes a rank of a group that has formed. */
  void seat(GroupMember holder, BiConsumer<JoinReply, RegattaException> done) {
    seats.take(holder);
    noteRun(holder);
    FORMATIONS.info("{}: rank {} is {} now, incarnation {}", name, holder.rank, holder.name(), holder.incarnation);
    changed();
    done.accept(reply(holder), null);
  }

  /**
   * Removes and returns the joins that still wait for a rank of a group whose members are all gone:
   * {@link Formation#takeNextLives}.
   */
  List<JoinQueue.PendingJoin> takeNextLives() {
    return formation.takeNextLives();
  }

  /** Takes over joins that waited for an ended group of this name; {@link #proceed} is to be called next. */
  void takeOver(List<JoinQueue.PendingJoin> joins) {
    joins.forEach(joinQueue::takeOver);
  }

  /** See {@link Formation#proceed}. */
  void proceed(long now) {
    formation.proceed(now);
  }

  /** Adds the run of a member that has got a seat to the group's. */
  private void noteRun(GroupMember member) {
    if (!member.runId.isEmpty() && runIds.size() < config.limits().members()) {
      runIds.add(member.runId);
    }
  }

  /** Seats the next generation of an elastic group; its members are answered after this. */
  void seat(GroupMember[] next) {
    seats.take(next);
    List.of(next).forEach(this::noteRun);
    gathers.close(new StaleGeneration("generation " + generation + " of group " + name + " is over, and its gathers with it"));
    FORMATIONS.info("{}: generation {} has {} of at most {} members", name, generation + 1, next.length, size.max());
    changed();
  }

  /** Seats a group of one size, by rank. */
  void seatAll(GroupMember[] seated, List<BiConsumer<JoinReply, RegattaException>> done) {
    seats.take(seated.clone());
    List.of(seated).forEach(this::noteRun);
    FORMATIONS.info("{}: formed with {} members, generation {}", name, seated.length, generation + 1);
    changed();
    GroupView formed = view();
    for (int rank = 0; rank < seated.length; rank++) {
      done.get(rank).accept(reply(seated[rank], formed), null);
    }
  }

  JoinReply reply(GroupMember holder) {
    return reply(holder, view());
  }

  private JoinReply reply(GroupMember holder, GroupView view) {
    return JoinReply.newBuilder().setRank(holder.rank).setIncarnation(holder.incarnation).setView(view)
        .setLeaseMs(config.leaseMs()).build();
  }

  /**
   * Ends a member's seat: no gather waits for it any more, and its unfinished work items go back.
   *
   * @param ended in an elastic group: the group's work is done
   * @param withSuccess its run has ended with success
   */
  void leave(int rank, long incarnation, boolean ended, boolean withSuccess) {
    if (seats.hasLeft(rank, incarnation)) {
      return;
    }
    GroupMember holder = requireActive(rank, incarnation);
    DEPARTURES.info("{}: rank {} ({}) has left", name, rank, holder.name());
    holder.state = GroupMember.State.LEFT;
    holder.succeeded = withSuccess;
    succeeded |= withSuccess;
    queues.giveBack(holder);
    joinQueue.dismiss(incarnation, new StaleGeneration(holder.name() + " has left group " + name));
    changed();
    formation.left(ended, clock.getAsLong());
  }

  /** Renews the lease; returns the generation. */
  long heartbeat(int rank, long incarnation, long step, long examples) {
    GroupMember holder = requireActive(rank, incarnation);
    holder.lastStep = Math.max(holder.lastStep, step);
    holder.examples = Math.max(holder.examples, examples);
    return generation;
  }

  /**
   * Adds a watcher, which is called before this returns.
   *
   * @param incarnation of the member that it is; 0: none
   */
  Runnable watch(Watcher watcher, long incarnation) {
    if (watchers.size() >= config.limits().watchers()) {
      throw new Overloaded("group " + name + " has " + watchers.size()
          + " watchers, the limit (rendezvous.limits.watchers); raise it or watch from fewer places");
    }
    watchers.add(watcher);
    watcher.changed(this::view);
    GroupMember follower = holders().stream().filter(holder -> incarnation != 0 && holder.incarnation == incarnation).findFirst()
        .orElse(null);
    if (follower != null) {
      follower.followsBy();
    }
    return () -> {
      watchers.remove(watcher);
      if (follower != null) {
        long now = clock.getAsLong();
        follower.followsNoMore(now);
        formation.streamBroke(follower, now);
      }
    };
  }

  /** See {@link Seats#requireActive}. */
  GroupMember requireActive(int saidRank, long incarnation) {
    return seats.requireActive(saidRank, incarnation, generation);
  }

  /** Ends everything whose time is up: leases first, since a loss may complete a gather that would time out. */
  void expire(long now) {
    boolean anyLost = false;
    for (GroupMember holder : holders()) {
      Optional<String> why = !holder.active() ? Optional.empty() : now - holder.lastSeenMillis > config.leaseMs()
          ? Optional.of("no heartbeat within " + GroupMember.seconds(config.leaseMs())) : formation.lost(holder, now);
      why.ifPresent(of -> lose(holder, of, now));
      anyLost |= why.isPresent();
    }
    if (anyLost) {
      changed();
    }
    formation.proceed(now);
    if (!isEmpty()) { // else waiting joins are taken to another group
      joinQueue.expire(now, formation::waitsOn, () -> formation.state(now));
    }
    gathers.expire(now);
    store.expire(now);
  }

  /** Declares a member lost, which is gone without notice, or must leave; to be followed by {@link #changed}. */
  void lose(GroupMember holder, String why, long now) {
    LOSSES.warn("{}: {} is lost: {}; the others continue without it", name, holder.describe(now), why);
    holder.lose(why);
    queues.giveBack(holder);
    joinQueue.dismiss(holder.incarnation, new StaleGeneration(holder.describe(now) + " of group " + name + " was declared lost: " + why
        + ". Join again to get a new incarnation"));
  }

  /**
   * Adds the time in which the rendezvous itself did not run to leases, and to the times that members have to answer.
   */
  void grantBack(long leaseMillis, long answerMillis) {
    seats.active().forEach(holder -> holder.grantBack(leaseMillis, answerMillis));
  }

  void changed() {
    generation = issuer.nextGeneration(generation);
    tell();
    gathers.settle();
  }

  void tell() {
    shared = new HashMap<>();
    List.copyOf(watchers).forEach(w -> w.changed(this::view));
    shared = null; // null for the others, too, if one of the watchers has changed the group
  }

  /** Returns true if nobody is left to serve: no member is active, and no join waits for this group. */
  boolean isEmpty() {
    return seats.active().findAny().isEmpty() && formation.isOver();
  }

  /**
   * Returns true if the run of this group has ended with success: a member has left and reported it. That member has
   * counted the untrained data of failed and lost members, or its job accepts them.
   */
  boolean hasSucceeded() {
    return succeeded;
  }

  /** The ids of the runs that members have come from, each of the same run by another launcher. */
  Set<String> runIds() {
    return runIds;
  }

  /** Fails the remaining waits, and ends the watches: nobody is left. */
  void end() {
    formation.endWithoutSuccess();
    close(new StaleGeneration("group " + name + " has ended: its last member is gone"), null);
  }

  /** Ends all waits, and the watches, for this reason. */
  void breakOff(RegattaException reason) {
    close(reason, reason);
  }

  private void close(RegattaException forWaiting, RegattaException forWatchers) {
    joinQueue.close(forWaiting);
    formation.close(forWaiting);
    gathers.close(forWaiting);
    store.close(forWaiting);
    List<Watcher> ended = List.copyOf(watchers);
    watchers.clear();
    ended.forEach(w -> w.end(forWatchers));
  }

  /** Returns the whole current view. */
  GroupView view() {
    return view(0);
  }

  /** Returns the changes since an earlier view, or the whole view if there is none of this number. */
  GroupView view(long since) {
    return shared == null ? build(since) : shared.computeIfAbsent(since, this::build);
  }

  private GroupView build(long since) {
    GroupView.Builder view = GroupView.newBuilder().setGroup(name).setGeneration(generation)
        .setWorldSize(holders().isEmpty() ? size.max() : holders().size());
    seats.active().filter(GroupMember::isAsked).forEach(holder -> view.addAsked(holder.incarnation));
    views.note(holders(), formation.newcomers().stream()
        .map(request -> request.getMember() + " at " + request.getEndpoint()).toList());
    views.add(view, since);
    return view.build();
  }

  /** Returns the joins and gathers of {@link #waits}, once each, with ranks as numbers. */
  List<OpenGather> openGathers() {
    List<OpenGather> all = new ArrayList<>(joinQueue.open(formation.absentRanks()));
    all.addAll(gathers.open());
    return all;
  }

  List<Wait> waits() {
    List<Wait> waits = new ArrayList<>(joinQueue.waits(formation.absentRanks()));
    waits.addAll(formation.waits());
    waits.addAll(gathers.waits());
    waits.addAll(store.waits());
    return waits;
  }
}
