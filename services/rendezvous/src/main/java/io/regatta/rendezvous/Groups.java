package io.regatta.rendezvous;

import com.google.protobuf.ByteString;
import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Wait;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.rendezvous.GatherRequest;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.LeaseReply;
import io.regatta.protocol.rendezvous.LeaseRequest;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All open groups of one rendezvous: the state machine of {@link RendezvousVerticle}, owned by it and used on its event
 * loop only. Nothing here blocks or starts a thread; time is the clock's, and passes when {@link #expire} is called.
 *
 * <p>A method that may wait takes a {@code (value, error)} callback, called once with exactly one of them non-null. It
 * returns an action to run when the caller has gone; the callback is not called after that. Other methods return their
 * answer. Both kinds throw {@link RegattaException} for a request refused at once; a refused request changes nothing.
 */
public final class Groups {
  private static final Logger LOG = LoggerFactory.getLogger(Groups.class);
  private static final PeerLog ENDS = PeerLog.ofEvents(LOG);

  /** Limit of any requested time; longer than the 100 years with which trainers request an unlimited wait. */
  private static final long LONGEST_MILLIS = Long.MAX_VALUE / 2;

  private final RendezvousConfig config;
  private final LongSupplier clock;
  private final Issuer issuer;
  private final long incarnation;
  private final Map<String, Group> groups = new TreeMap<>();
  private final EndedRuns endedRuns;
  private boolean succeeded;
  private long lastExpireMillis;

  /**
   * @param clock milliseconds since the epoch at its start, never going back (a change of the wall clock must not end
   *     leases)
   */
  public Groups(RendezvousConfig config, LongSupplier clock) {
    this.config = config;
    this.clock = clock;
    this.endedRuns = new EndedRuns(config.limits().endedRuns(), config.endedRunSeconds() * 1000L);
    this.lastExpireMillis = clock.getAsLong();
    this.incarnation = lastExpireMillis;
    this.issuer = new Issuer(lastExpireMillis);
  }

  /**
   * Takes a rank; answers when all members have come. A join that fails or is withdrawn frees its rank. A member that
   * joins its group's next generation waits for the time that it names. Meanwhile its heartbeats keep it alive, so no
   * seat is held for a dead member.
   */
  public Runnable join(JoinRequest request, BiConsumer<JoinReply, RegattaException> done) {
    String name = checkShown("group", request.getGroup());
    checkShown("member", request.getMember());
    checkEmptyOrShown("endpoint", request.getEndpoint());
    checkEmptyOrShown("host", request.getHost());
    if (request.getWorldSize() < 1 || request.getWorldSize() > config.limits().members()) {
      throw new InvalidInput("world size " + request.getWorldSize() + " of group " + name
          + " is not within 1 .. rendezvous.limits.members " + config.limits().members());
    }
    if (request.getRank() < -1 || request.getRank() >= request.getWorldSize()) {
      throw new InvalidInput("rank " + request.getRank() + " of " + request.getMember() + " is not within 0 .. "
          + (request.getWorldSize() - 1) + " of group " + name + " (or -1 for any)");
    }
    if (request.getMinWorldSize() < 0 || request.getMinWorldSize() > request.getWorldSize() || request.getSettleMs() < 0) {
      throw new InvalidInput("smallest world size " + request.getMinWorldSize() + " of group " + name + " is not within 1 .. "
          + request.getWorldSize() + ", its largest (or 0 if the group is not elastic), or it is to settle for "
          + request.getSettleMs() + " ms");
    }
    if (request.getIncarnation() != 0) {
      member(name);
    } else if (!request.getRunId().isEmpty()) {
      checkShown("run", request.getRunId());
      endedRuns.since(name, request.getRunId(), clock.getAsLong()).ifPresent(millis -> {
        throw new RunEnded("run " + request.getRunId() + " of job " + name + " ended with success " + GroupMember.seconds(millis)
            + " ago, before " + request.getMember() + " joined: nothing is left to do. To train again, start the job with another "
            + "run id");
      });
    }
    if (!groups.containsKey(name) && groups.size() >= config.limits().groups()) {
      throw new Overloaded("the rendezvous has " + groups.size() + " open groups, the limit (rendezvous.limits.groups);"
          + " wait until a job has ended, or raise it");
    }
    Group group = groups.computeIfAbsent(name, n -> new Group(request, config, issuer, clock));
    boolean livesByHeartbeats = request.getIncarnation() != 0 && request.getTimeoutMs() > 0;
    long timeoutMillis = livesByHeartbeats ? Math.min(request.getTimeoutMs(), LONGEST_MILLIS) : timeout(request.getTimeoutMs());
    Runnable withdraw = group.join(request, timeoutMillis, done);
    return () -> {
      withdraw.run();
      Optional.ofNullable(groups.get(name)).ifPresent(this::forgetIfEmpty);
    };
  }

  /** Returns the secret of an incarnation, by which its member proves that a call is its own. */
  ByteString secret(long incarnation) {
    return issuer.secret(incarnation);
  }

  /** Returns true if a call shows the secret of this incarnation, so that it is the member's own. */
  boolean isSecret(long incarnation, ByteString secret) {
    return MessageDigest.isEqual(secret(incarnation).toByteArray(), secret.toByteArray());
  }

  /**
   * Refuses a call that is not the member's own. The incarnation proves nothing, for every view shows it.
   *
   * @throws StaleGeneration if the secret is not that of this incarnation, as after this rendezvous has started again
   */
  void requireSecret(String groupName, long incarnation, ByteString secret) {
    member(groupName);
    if (!isSecret(incarnation, secret)) {
      throw new StaleGeneration("incarnation " + incarnation + " of group " + groupName + " was not given the secret "
          + "that this call shows, or it shows none: only a member itself may leave, or join the next generation. Join "
          + "again");
    }
  }

  /** Leaves; a second time is harmless while the group lasts. */
  public void leave(String groupName, int rank, long incarnation) {
    leave(groupName, rank, incarnation, false, false);
  }

  /**
   * Leaves at the end of the group's work, or before.
   *
   * @param ended elastic: the group's work is done, so that newcomers are refused from now on
   * @param succeeded the member's run has ended with success
   */
  public void leave(String groupName, int rank, long incarnation, boolean ended, boolean succeeded) {
    Group group = member(groupName);
    group.leave(rank, incarnation, ended, succeeded);
    forgetIfEmpty(group);
  }

  /**
   * Renews the lease.
   *
   * @param step the member's last step, shown to members that wait for it
   * @return the generation
   */
  public long heartbeat(String groupName, int rank, long incarnation, long step) {
    return heartbeat(groupName, rank, incarnation, step, 0);
  }

  /**
   * Renews the lease.
   *
   * @param step the member's last step, shown to members that wait for it
   * @param examples that it has trained so far, for reports on a lost member
   * @return the generation
   */
  public long heartbeat(String groupName, int rank, long incarnation, long step, long examples) {
    return member(groupName).heartbeat(rank, incarnation, step, examples);
  }

  /** Follows a group until it is forgotten; the first view comes before this returns. */
  public Runnable watch(String groupName, Watcher watcher) {
    return watch(groupName, 0, watcher);
  }

  /**
   * Follows a group.
   *
   * @param incarnation of the member that follows it, which can be asked for heartbeats over this watch; 0: another
   *     process
   */
  public Runnable watch(String groupName, long incarnation, Watcher watcher) {
    return open(groupName).watch(watcher, incarnation);
  }

  /** See {@link Gathers}. */
  public Runnable gather(GatherRequest request, GatherCaller caller) {
    Group group = member(request.getGroup());
    GroupMember holder = group.requireActive(request.getRank(), request.getIncarnation());
    return group.gathers().give(holder, checkName("key", request.getKey()), GatherPart.of(request),
        request.getTimeoutMs() <= 0 ? Gathers.NO_TIMEOUT : timeout(request.getTimeoutMs()), caller);
  }

  public void set(String groupName, String key, ByteString value) {
    open(groupName).store().set(checkName("key", key), value);
  }

  public Optional<ByteString> get(String groupName, String key) {
    return open(groupName).store().get(key);
  }

  /** Adds to a counter, which starts at 0; returns the sum. */
  public long add(String groupName, String key, long delta) {
    return open(groupName).store().add(checkName("key", key), delta);
  }

  /**
   * Sets a key if it holds the expected value.
   *
   * @param expected null: no value
   */
  public boolean compareAndSet(String groupName, String key, ByteString expected, ByteString value) {
    return open(groupName).store().compareAndSet(checkName("key", key), expected, value);
  }

  public boolean delete(String groupName, String key) {
    return open(groupName).store().delete(key);
  }

  /** Answers when all keys are set. */
  public Runnable await(String groupName, List<String> keys, long timeoutMillis,
      BiConsumer<Boolean, RegattaException> done) {
    Group group = open(groupName);
    if (keys.size() > config.limits().keys()) {
      throw new InvalidInput("wait for " + keys.size() + " keys of group " + groupName
          + ", more than rendezvous.limits.keys " + config.limits().keys());
    }
    return group.store().await(List.copyOf(keys), timeout(timeoutMillis), done);
  }

  /** See {@link WorkQueues#lease}. */
  public LeaseReply lease(LeaseRequest request) {
    Group group = member(request.getGroup());
    GroupMember holder = group.requireActive(request.getRank(), request.getIncarnation());
    request.getItemsList().forEach(item -> checkName("item", item));
    return group.queues().lease(holder, checkName("queue", request.getQueue()), request.getItemsList(),
        request.getDoneList(), request.getHeldList());
  }

  /** Returns open groups by name with their waits: the one of this name, or all if it is empty. */
  public GroupsReply status(String name) {
    return status(name, 0);
  }

  /**
   * Returns open groups with the changes of the named one.
   *
   * @param since number of the view of the named group that is known already; 0: none
   */
  public GroupsReply status(String name, long since) {
    GroupsReply.Builder status = GroupsReply.newBuilder().setIncarnation(incarnation);
    for (Group group : groups.values()) {
      if (name.isEmpty() || name.equals(group.name())) {
        status.addGroups(group.view(name.isEmpty() ? 0 : since)).addAllGathers(group.openGathers());
        group.waits().forEach(wait -> status.addWaits(wait.sentence(clock.getAsLong())));
      }
    }
    return status.build();
  }

  /** Returns the incarnation of the rendezvous: greater than those before it. */
  public long incarnation() {
    return incarnation;
  }

  /** Returns the number of open groups. */
  public int size() {
    return groups.size();
  }

  /** Returns true once a group has ended with success, and no group has a member or a waiting join. */
  public boolean isDone() {
    return succeeded && groups.isEmpty();
  }

  /** Returns the number of active members of all groups. */
  public long activeMembers() {
    return groups.values().stream().flatMap(group -> group.holders().stream()).filter(GroupMember::active).count();
  }

  /** Returns every call that waits here, with the members that it waits for. */
  public List<Wait> waits() {
    List<Wait> waits = new ArrayList<>();
    groups.values().forEach(group -> waits.addAll(group.waits()));
    return waits;
  }

  /**
   * Ends the leases and timeouts that are over; to be called every {@code tick_ms}. If it was not called for half a
   * lease, the rendezvous itself stood still (stopped, swapped, starved), and heartbeats may lie unread. That time is
   * then added to every lease, so that living members are not declared lost. Every delay is also added to the time that
   * a member has to answer.
   */
  public void expire() {
    long now = clock.getAsLong();
    long pause = now - lastExpireMillis;
    lastExpireMillis = now;
    for (Group group : List.copyOf(groups.values())) {
      if (pause > 2 * config.tickMs()) {
        group.grantBack(pause > config.leaseMs() / 2 ? pause : 0, pause);
      }
      group.expire(now);
      forgetIfEmpty(group);
    }
  }

  /** Fails every waiting call and watch with {@code PeerLost}, and forgets all groups. */
  public void close() {
    List<Group> all = List.copyOf(groups.values());
    groups.clear();
    all.forEach(group -> group.breakOff(new PeerLost("the rendezvous is shutting down and group " + group.name()
        + " with it. Join again once there is a rendezvous")));
  }

  private void forgetIfEmpty(Group group) {
    if (!group.isEmpty() || !groups.remove(group.name(), group)) {
      return;
    }
    ENDS.info("ended {}: nobody is left in it", group.name());
    if (group.hasSucceeded()) {
      endedRuns.add(group.name(), group.runIds(), clock.getAsLong());
      succeeded = true;
    }
    List<JoinQueue.PendingJoin> next = group.takeNextLives();
    if (next.isEmpty()) {
      group.end();
      return;
    }
    Group begun = new Group(next.get(0).request(), config, issuer, clock);
    groups.put(begun.name(), begun);
    begun.takeOver(next);
    group.end();
    begun.proceed(clock.getAsLong());
    forgetIfEmpty(begun); // waiting callers may have gone when they were notified of that end
  }

  private Group open(String name) {
    Group group = groups.get(name);
    if (group == null) {
      throw new NotOwner("no group " + PeerText.of(name) + " is open at this rendezvous: nobody has joined it yet, its "
          + "last member is gone, or the rendezvous was restarted");
    }
    return group;
  }

  private Group member(String name) {
    Group group = groups.get(name);
    if (group == null) {
      throw new StaleGeneration("no group " + PeerText.of(name) + " is open at this rendezvous: its last member is "
          + "gone, or the rendezvous was restarted. Join again to get a new incarnation");
    }
    return group;
  }

  private long timeout(long requestedMillis) {
    return requestedMillis <= 0 ? config.maxWaitMs() : Math.min(requestedMillis, config.maxWaitMs());
  }

  /** Checks a name that log lines, views and pages show. Keys and items may have any characters. */
  private String checkShown(String what, String name) {
    return PeerText.requireName(what, name, config.limits().names(), "rendezvous.limits.names");
  }

  private void checkEmptyOrShown(String what, String name) {
    if (!name.isEmpty()) {
      checkShown(what, name);
    }
  }

  private String checkName(String what, String name) {
    if (name.isEmpty() || name.length() > config.limits().names()) {
      throw new InvalidInput("name of a " + what + " has " + name.length() + " characters; give 1 .. "
          + config.limits().names() + " (rendezvous.limits.names)");
    }
    return name;
  }
}
