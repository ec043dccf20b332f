package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Wait;
import io.regatta.core.memory.HeapBudget;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.MissingMember;
import io.regatta.protocol.rendezvous.OpenGather;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gathers of one {@link Group}, its barriers: every member gives a payload under a key, and gets all of them in
 * rank order, or their reduction. Owned by the group, on its thread.
 *
 * <p>A gather waits for the members that were active when it was opened and still are. A later member may take part but
 * is not waited for. A member's payload stays, even if the member leaves or is lost before the end. A gather ends alike
 * for all: complete, or failed at the first caller's timeout. A key is used once: later calls get its outcome, as long
 * as it is among the last {@code limits.gathers} to end, or the group's first.
 */
final class Gathers {

  private static final Logger LOG = LoggerFactory.getLogger(Gathers.class);
  private static final PeerLog FAULTS = new PeerLog(LOG);

  /** A wait that ends when all have given, or the members that have not are gone. */
  static final long NO_TIMEOUT = 0;

  /**
   * Replies up to this size, such as those of barriers, are counted, and never refused, even if other jobs' answers
   * fill the process.
   */
  private static final long SMALL_BYTES = 64 << 10;

  private record Part(long incarnation, GatherPart given, long sinceMillis, GatherCaller caller) {

    void fail(RegattaException reason) {
      answer(null, reason, () -> { });
    }

    /** Answers this caller. If it cannot take the answer, the others still get theirs. */
    void answer(GatherReply reply, RegattaException error, Runnable sent) {
      try {
        caller.answer(reply, error, sent);
      } catch (RuntimeException | Error e) {
        FAULTS.error("incarnation " + incarnation + " cannot be answered its gather, whose other members are", e);
        sent.run();
      }
    }
  }

  /** The outcome of a gather: its failure, null for none, and the members of the group when it was opened. */
  private record Ended(RegattaException failure, long lastIncarnation) {}

  /** An open gather: its parts by rank, and the end of their first timeout. */
  private static final class Gather {
    final String key;
    final long lastIncarnation;
    final Map<Integer, Part> parts = new TreeMap<>();
    long deadlineMillis = Long.MAX_VALUE;

    Gather(String key, long lastIncarnation) {
      this.key = key;
      this.lastIncarnation = lastIncarnation;
    }
  }

  private final Group group;
  private final RendezvousConfig.Limits limits;
  private final Issuer issuer;
  private final LongSupplier clock;
  private final Map<String, Gather> open = new LinkedHashMap<>();
  private final Map<String, Ended> ended = new LinkedHashMap<>();
  private long bytes;

  Gathers(Group group, RendezvousConfig.Limits limits, Issuer issuer, LongSupplier clock) {
    this.group = group;
    this.limits = limits;
    this.issuer = issuer;
    this.clock = clock;
  }

  /**
   * Gives a member's payload. If the same member gives the same payload again (its first call got lost), the first call
   * is replaced and cancelled.
   *
   * @param timeoutMillis {@link #NO_TIMEOUT}: as long as the members live that it waits for
   * @return to be run when the caller has gone: the payload stays, and nobody is answered
   */
  Runnable give(GroupMember holder, String key, GatherPart given, long timeoutMillis, GatherCaller caller) {
    refuseEnded(holder, key);
    Gather gather = open.get(key);
    Part before = gather == null ? null : gather.parts.get(holder.rank);
    boolean again = before != null && before.incarnation == holder.incarnation;
    if (again && !before.given.equals(given)) {
      throw new Conflict("rank " + holder.rank + " has already given another payload to gather " + key + " of group "
          + group.name() + "; use a new key for every gather");
    }
    checkLimits(gather == null, key, given.size(), before);
    if (gather == null) {
      gather = new Gather(key, issuer.lastIncarnation());
      open.put(key, gather);
    }
    long now = clock.getAsLong();
    Part part = new Part(holder.incarnation, given, now, caller);
    bytes += given.size() - (before == null ? 0 : before.given.size());
    gather.parts.put(holder.rank, part);
    if (timeoutMillis != NO_TIMEOUT) {
      gather.deadlineMillis = Math.min(gather.deadlineMillis, now + timeoutMillis);
    }
    if (before != null) {
      before.fail(new Cancelled("gather " + key + " of group " + group.name() + " was asked again by rank "
          + holder.rank));
    }
    Gather mine = gather;
    disagreement(gather, holder.rank, given).ifPresentOrElse(text -> fail(mine, new InvalidInput(text)), this::settle);
    return () -> mine.parts.replace(holder.rank, part, new Part(part.incarnation, given, now,
        (reply, error, sent) -> sent.run()));
  }

  private void refuseEnded(GroupMember holder, String key) {
    Ended end = ended.get(key);
    if (end == null) {
      return;
    }
    if (end.failure != null) {
      throw end.failure;
    }
    String over = "gather " + key + " of group " + group.name() + " is over";
    throw new Conflict(holder.incarnation > end.lastIncarnation
        ? over + ": rank " + holder.rank + " (" + holder.name() + ") joined after it had begun. The group is under "
            + "way and cannot take a newcomer in; start all members again, or use another group name"
        : over + "; use a new key for every gather");
  }

  private void checkLimits(boolean opens, String key, int size, Part before) {
    if (size > limits.payloadBytes()) {
      throw new InvalidInput("payload of gather " + key + " of group " + group.name() + " has " + size
          + " bytes, more than rendezvous.limits.payload_bytes " + limits.payloadBytes());
    }
    if (opens && open.size() >= limits.gathers()) {
      throw new Overloaded("group " + group.name() + " has " + open.size()
          + " open gathers, the limit (rendezvous.limits.gathers); let some end first");
    }
    if (before == null && bytes + size > limits.gatherBytes()) {
      throw new Overloaded("open gathers of group " + group.name() + " hold " + bytes + " bytes; " + size
          + " more would pass rendezvous.limits.gather_bytes " + limits.gatherBytes() + "; let some end first");
    }
  }

  /**
   * Returns the reason for which this part does not match one of another rank. Then all fail together, since no answer
   * would be right.
   */
  private Optional<String> disagreement(Gather gather, int rank, GatherPart given) {
    return gather.parts.entrySet().stream().filter(e -> e.getKey() != rank).findFirst()
        .filter(other -> !given.goesWith(other.getValue().given))
        .map(other -> "gather " + gather.key + " of group " + group.name() + ": rank " + rank + " gave " + given.what()
            + ", rank " + other.getKey() + " " + other.getValue().given.what()
            + "; all must give the same number, and reach the same calls in the same order");
  }

  /** Completes every gather that waits for nobody any more. */
  void settle() {
    for (Gather gather : List.copyOf(open.values())) {
      if (missing(gather).isEmpty()) {
        answer(gather);
      }
    }
  }

  /**
   * Answers all members that gave. If there is no room for the large reply, which counts until all have been sent it,
   * the gather fails for all.
   */
  private void answer(Gather gather) {
    List<GatherPart> parts = gather.parts.values().stream().map(Part::given).toList();
    long bytes = GatherPart.answerBytes(parts);
    if (bytes <= SMALL_BYTES) {
      HeapBudget.ANSWERS.add(bytes);
    } else if (!HeapBudget.ANSWERS.take(bytes)) {
      fail(gather, new Overloaded("gather " + gather.key + " of group " + group.name() + ": no room for the " + bytes
          + " bytes that its reply takes: " + HeapBudget.inWords()
          + ". Give the rendezvous a larger heap (-Xmx), or lower rendezvous.limits.gather_bytes"));
      return;
    }
    List<Part> callers = List.of();
    GatherReply all = null;
    try {
      all = GatherReply.newBuilder().addAllRanks(gather.parts.keySet())
          .addAllPayloads(GatherPart.answer(parts)).build();
      if (end(gather, null)) {
        callers = List.copyOf(gather.parts.values());
      }
    } finally {
      if (callers.isEmpty()) {
        HeapBudget.ANSWERS.giveBack(bytes);
      }
    }
    Unsent unsent = new Unsent(callers.size(), bytes);
    for (Part part : callers) {
      part.answer(all, null, unsent.call());
    }
  }

  /** Calls that a reply is still being sent to, of the group's thread. */
  private static final class Unsent {
    private final long bytes;
    private int calls;

    Unsent(int calls, long bytes) {
      this.calls = calls;
      this.bytes = bytes;
    }

    /** Returns the action by which one call reports that it needs the reply no longer. A repetition does nothing. */
    Runnable call() {
      AtomicBoolean sent = new AtomicBoolean();
      return () -> {
        if (!sent.getAndSet(true) && --calls == 0) {
          HeapBudget.ANSWERS.giveBack(bytes);
        }
      };
    }
  }

  private List<GroupMember> missing(Gather gather) {
    return group.holders().stream().filter(h -> {
      Part part = gather.parts.get(h.rank);
      return h.active() && h.incarnation <= gather.lastIncarnation
          && (part == null || part.incarnation != h.incarnation);
    }).toList();
  }

  /** Removes it from the open ones; false if it was not among them any more. */
  private boolean end(Gather gather, RegattaException failure) {
    if (!open.remove(gather.key, gather)) {
      return false;
    }
    bytes -= gather.parts.values().stream().mapToLong(p -> p.given.size()).sum();
    ended.put(gather.key, new Ended(failure, gather.lastIncarnation));
    if (ended.size() > limits.gathers()) {
      Iterator<String> oldest = ended.keySet().iterator();
      oldest.next(); // the first of all stays: it shows a newcomer that the group is under way
      oldest.next();
      oldest.remove();
    }
    return true;
  }

  void expire(long now) {
    for (Gather gather : List.copyOf(open.values())) {
      if (now >= gather.deadlineMillis) {
        String missing = missing(gather).stream().map(h -> h.describe(now)).collect(Collectors.joining(", "));
        long since = gather.parts.values().stream().mapToLong(Part::sinceMillis).min().orElse(now);
        String failure = "gather " + gather.key + " of group " + group.name() + " timed out after "
            + GroupMember.seconds(now - since) + ": given by ranks " + gather.parts.keySet() + ", missing " + missing
            + ". Look there for what keeps them, or use a longer timeout";
        fail(gather, new PeerLost(failure));
      }
    }
  }

  private void fail(Gather gather, RegattaException reason) {
    if (end(gather, reason)) {
      List.copyOf(gather.parts.values()).forEach(part -> part.fail(reason));
    }
  }

  void close(RegattaException reason) {
    List.copyOf(open.values()).forEach(gather -> fail(gather, reason));
  }

  List<OpenGather> open() {
    List<OpenGather> all = new ArrayList<>();
    for (Gather gather : open.values()) {
      OpenGather.Builder of = OpenGather.newBuilder().setGroup(group.name()).setKey(gather.key);
      missing(gather).forEach(h -> of.addMissing(MissingMember.newBuilder().setRank(h.rank).setLastStep(h.lastStep)
          .setLastSeenMs(h.lastSeenMillis)));
      all.add(of.build());
    }
    return all;
  }

  List<Wait> waits() {
    List<Wait> waits = new ArrayList<>();
    for (Gather gather : open.values()) {
      List<Wait.Peer> missing = missing(gather).stream()
          .map(h -> new Wait.Peer("rank " + h.rank, h.lastStep, h.lastSeenMillis)).toList();
      gather.parts.forEach((rank, part) -> waits.add(new Wait("rank " + rank, "gather " + gather.key,
          "group " + group.name(), part.sinceMillis, missing)));
    }
    return waits;
  }
}
