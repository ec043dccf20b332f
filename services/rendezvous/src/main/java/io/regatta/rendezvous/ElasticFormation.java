package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Wait;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The succession of an elastic group's generations. It decides which members are asked for a heartbeat because others
 * cannot reach them, and which must leave because they live and still cannot be reached. It also decides until when
 * newcomers are let in. The rules are {@link Elastic}'s. Part of its {@link Group}, on its thread.
 *
 * <p><b>Evidence of a loss.</b> A member's report that it cannot reach another does not end that one. The rendezvous
 * asks the accused member, over the stream by which it follows the group. A living member answers with a heartbeat
 * within a round trip, and one whose stream has just broken sends one unasked. So a member is lost early only on the
 * evidence of two different connections: another member's, and the rendezvous's own. A false report, and a connection
 * that is broken between two members only, end nobody here; {@link UnreachablePairs} handles two living members that
 * cannot reach each other.
 */
final class ElasticFormation implements Formation {
  private static final Logger LOG = LoggerFactory.getLogger(ElasticFormation.class);
  private static final PeerLog ACCUSATIONS = PeerLog.ofEvents(LOG);
  private static final PeerLog RETRIES = PeerLog.ofEvents(LOG);

  private final Group group;
  private final Elastic rules;
  private final JoinQueue joinQueue;
  private final Issuer issuer;
  private final RendezvousConfig config;
  private final UnreachablePairs severed = new UnreachablePairs();
  /** Newcomers of this run that came at its end, and wait for its outcome. */
  private final JoinQueue late;
  /** True once a member has reached its end: the group's work is done, or will be when all are there. */
  private boolean runOver;

  ElasticFormation(Group group, Elastic rules, JoinQueue joinQueue, Issuer issuer, RendezvousConfig config) {
    this.group = group;
    this.rules = rules;
    this.joinQueue = joinQueue;
    this.issuer = issuer;
    this.config = config;
    this.late = new JoinQueue(group.name(), 0, 0);
  }

  /** Joins the next generation: a member of this one, which is over then for all, or a newcomer. */
  @Override
  public Runnable join(JoinRequest request, long now, long deadlineMillis, BiConsumer<JoinReply, RegattaException> done) {
    boolean newcomer = request.getIncarnation() == 0;
    GroupMember member = newcomer ? null : group.requireActive(request.getRank(), request.getIncarnation());
    boolean first = !newcomer && group.holders().stream().noneMatch(h -> joinQueue.holds(h.incarnation));
    joinQueue.replace(request);
    if (newcomer) {
      if (runOver) {
        return awaitEnd(request, now, done);
      }
      rules.admit(request, group.holders(), joinQueue, now);
    }
    JoinQueue.PendingJoin join = joinQueue.enter(request, now, deadlineMillis, done);
    if (first) {
      group.changed();
    } else if (newcomer && !group.holders().isEmpty()) {
      group.tell();
    }
    if (member != null) {
      if (request.getInVain()) {
        severed.says(member.incarnation, request.getUnreachableList());
      }
      ask(member, request.getUnreachableList(), now);
      if (request.getEnding()) {
        endRun(now);
      }
    }
    proceed(now);
    return join::withdraw;
  }

  // ---- requested heartbeats

  /**
   * Asks the members that a member cannot reach for a heartbeat, and those from which the rendezvous itself has been
   * cut off at the same time. A member that lives without a stream to follow the group cannot be asked: its lease
   * decides.
   */
  private void ask(GroupMember by, List<Long> unreachable, long now) {
    List<GroupMember> accused = group.holders().stream()
        .filter(holder -> holder.active() && !holder.isAsked() && holder != by && unreachable.contains(holder.incarnation)
            && (holder.follows() || holder.hasLostStream(config.answerMs()))).toList();
    if (accused.isEmpty()) {
      return;
    }
    ACCUSATIONS.warn("{}: {} cannot reach {}, which has {} to send a heartbeat", group.name(), by.describe(now),
        describe(accused, now),
        GroupMember.seconds(config.answerMs()));
    accused.forEach(holder -> holder.ask("rank " + by.rank + " (" + by.name() + ")", now));
    group.holders().forEach(holder -> streamBroke(holder, now));
    group.tell();
  }

  /** Asks a member whose stream to the rendezvous has broken, if others are suspected: it may be dead as well. */
  @Override
  public void streamBroke(GroupMember holder, long now) {
    if (holder.active() && holder.hasLostStream(config.answerMs()) && !holder.isAsked() && !joinQueue.holds(holder.incarnation)
        && group.holders().stream().anyMatch(GroupMember::isAsked)) {
      holder.ask("the rendezvous, whose stream to it broke,", now);
    }
  }

  @Override
  public Optional<String> lost(GroupMember holder, long now) {
    return holder.isAsked() && now - holder.askedMillis() > config.answerMs() ? Optional.of(holder.askedBy()
        + " cannot reach it, and it has sent no heartbeat within " + GroupMember.seconds(config.answerMs())
        + " of being asked for one") : Optional.empty();
  }

  // ---- the next generation

  /** Forms the next generation, if it is time. */
  @Override
  public void proceed(long now) {
    joinQueue.joins().forEach(join -> rules.refusal(join, group.holders(), joinQueue, now).ifPresent(why -> joinQueue.refuse(join, why)));
    if (!rules.isReady(group.holders(), joinQueue, runOver, now)) {
      return;
    }
    Optional<UnreachablePairs.Excess> excess = severed.excess(joinQueue.joins().stream().map(join -> join.request().getIncarnation())
        .collect(Collectors.toSet()));
    if (excess.isEmpty()) {
      if (severed.attempts() > 0) {
        RETRIES.warn("{}: the last generation has failed, and is tried again with all of its members ({} of "
            + "{} times), for {}",
            group.name(), severed.attempts(), UnreachablePairs.ATTEMPTS - 1, severed.pairs().stream()
                .map(pair -> describe(pair.by(), now) + " cannot reach " + describe(pair.to(), now)).collect(Collectors.joining("; ")));
      }
      form(now);
      return;
    }
    holder(excess.get().incarnation()).ifPresent(holder -> group.lose(holder, "it and " + excess.get().others().stream()
        .map(other -> describe(other, now)).collect(Collectors.joining(" and ")) + " live and cannot reach each other, and "
        + UnreachablePairs.ATTEMPTS + " generations with both failed; look at the network between them", now));
    group.changed();
    proceed(now);
  }

  private void form(long now) {
    List<GroupMember> before = List.copyOf(group.holders());
    List<JoinQueue.PendingJoin> joins = joinQueue.takeAll();
    int[] ranks = Elastic.ranks(joins, before);
    GroupMember[] next = new GroupMember[ranks.length];
    for (int i = 0; i < ranks.length; i++) {
      JoinRequest request = joins.get(i).request();
      next[ranks[i]] = before.stream().filter(h -> h.incarnation == request.getIncarnation()).findFirst()
          .orElseGet(() -> new GroupMember(-1, issuer.nextIncarnation(), request, now));
      next[ranks[i]].rank = ranks[i];
      next[ranks[i]].seen(now);
    }
    group.seat(next);
    for (int i = 0; i < ranks.length; i++) {
      joins.get(i).done().accept(group.reply(next[ranks[i]]), null);
    }
  }

  // ---- newcomers, and the end

  /**
   * Returns true if a join waits on after its timeout: a newcomer does, as long as there are members that may let it
   * in.
   */
  @Override
  public boolean waitsOn(JoinQueue.PendingJoin join) {
    return join.request().getIncarnation() == 0 && group.holders().stream().anyMatch(GroupMember::active);
  }

  /** Returns newcomers that the next generation could take in. */
  @Override
  public List<JoinRequest> newcomers() {
    return group.holders().isEmpty() ? List.of() : joinQueue.joins().stream()
        .filter(join -> join.request().getIncarnation() == 0 && rules.hasSeat(join, group.holders(), joinQueue))
        .map(JoinQueue.PendingJoin::request).toList();
  }

  /**
   * Refuses newcomers from now on: one would find nothing to do, or begin the finished work anew when the last member
   * has gone.
   */
  private void endRun(long now) {
    runOver = true;
    joinQueue.joins().stream().filter(join -> join.request().getIncarnation() == 0).forEach(join -> {
      if (isOfThisRun(join.request())) {
        join.withdraw();
        late.takeOver(join);
      } else {
        joinQueue.refuse(join, runOver(join.request(), now));
      }
    });
  }

  /**
   * Returns true for a newcomer of this run. One without an id, or with an unknown one, may begin another run, of which
   * nothing is known here.
   */
  private boolean isOfThisRun(JoinRequest newcomer) {
    return group.runIds().contains(newcomer.getRunId());
  }

  /**
   * Lets a newcomer of this run wait for the outcome: after a success it has nothing to do. Members end by themselves
   * or by their leases.
   */
  private Runnable awaitEnd(JoinRequest newcomer, long now, BiConsumer<JoinReply, RegattaException> done) {
    if (!isOfThisRun(newcomer)) {
      throw runOver(newcomer, now);
    }
    late.replace(newcomer);
    if (late.size() >= config.limits().members()) {
      throw new Overloaded(late.size() + " newcomers wait for the end of the run of group " + group.name()
          + " already, the limit (rendezvous.limits.members)");
    }
    JoinQueue.PendingJoin join = late.enter(newcomer.toBuilder().setRank(-1).build(), now, Long.MAX_VALUE, done);
    return join::withdraw;
  }

  @Override
  public void left(boolean ended, long now) {
    if (ended) {
      endRun(now);
    }
    if (group.hasSucceeded()) {
      late.joins().forEach(join -> late.refuse(join, group.nothingLeft(join.request())));
    }
    proceed(now);
  }

  /** Answers joins that still wait for the end of the run: the last member is gone. */
  @Override
  public void endWithoutSuccess() {
    late.joins().forEach(join -> late.refuse(join, new Conflict("the run of group " + group.name()
        + " has ended without success, while " + join.request().getMember() + " waited for its end; start it again")));
  }

  @Override
  public void close(RegattaException reason) {
    late.close(reason);
  }

  @Override
  public String state(long now) {
    return rules.state(group.holders(), joinQueue, now);
  }

  @Override
  public Collection<Integer> absentRanks() {
    return rules.absentRanks(group.holders(), joinQueue);
  }

  @Override
  public boolean isOver() {
    return joinQueue.size() == 0;
  }

  @Override
  public List<Wait> waits() {
    return late.waits(List.of(Wait.Peer.named("the end of the run")));
  }

  private Conflict runOver(JoinRequest newcomer, long now) {
    List<GroupMember> here = group.holders().stream().filter(GroupMember::active).toList();
    return new Conflict("the run of group " + group.name() + " has ended, too early for " + newcomer.getMember() + " to take part"
        + (here.isEmpty() ? "" : ", and is being closed by " + describe(here, now)) + "; start the job anew to run it again");
  }

  private Optional<GroupMember> holder(long incarnation) {
    return group.holders().stream().filter(holder -> holder.incarnation == incarnation).findFirst();
  }

  private String describe(long incarnation, long now) {
    return holder(incarnation).map(holder -> holder.describe(now)).orElse("incarnation " + incarnation);
  }

  private static String describe(List<GroupMember> holders, long now) {
    return holders.stream().map(holder -> holder.describe(now)).collect(Collectors.joining(", "));
  }
}
