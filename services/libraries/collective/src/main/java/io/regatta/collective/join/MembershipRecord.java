package io.regatta.collective.join;

import io.regatta.collective.Joining;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.core.group.Seating;
import io.regatta.node.address.PublishedAddress;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The members of a group, and the processes that wait for its next generation: the one value in a store that the
 * members change by compare-and-set. Immutable; a change returns another record.
 *
 * @param formed the generation that was formed last
 * @param generation the same as long as no member of it has gone; greater after every change of them
 * @param members by rank, as long as none has gone since the generation was formed; then those that have neither gone
 *     nor begun to wait for the next one
 * @param waiting for the next generation, in the order in which they came
 * @param ended the group's work is done: newcomers are refused, until nobody is left
 * @param runs the runs that its members belong to, and those that ended before
 * @param lost ranks of the members of the generation formed last that were lost since; not of those that left
 */
record MembershipRecord(String group, int min, int max, long formed, long generation, List<Entry> members, List<Entry> waiting, boolean ended,
    Runs runs, List<Integer> lost) {

  /**
   * One life of one process.
   *
   * @param id unique
   * @param rank in the generation of {@code members}, or the last one that it was in; -1: none yet
   * @param run id of the run that it came from; empty: none
   */
  record Entry(String id, String member, String endpoint, int wanted, int rank, String run) {

    static Entry of(String id, Joining joining) {
      return new Entry(id, joining.member(), joining.endpoint(), joining.rank(), -1, joining.runId());
    }

    Entry at(int newRank) {
      return new Entry(id, member, endpoint, wanted, newRank, run);
    }

    boolean isNew() {
      return rank < 0;
    }

    @Override
    public String toString() {
      return member + " at " + endpoint;
    }

    JsonObject toJson() {
      return new JsonObject().put("id", id).put("member", member).put("endpoint", endpoint).put("wanted", wanted)
          .put("rank", rank).put("run", run);
    }

    static Entry of(JsonObject json) {
      return new Entry(json.getString("id"), json.getString("member"), json.getString("endpoint"),
          json.getInteger("wanted"), json.getInteger("rank"), json.getString("run", ""));
    }
  }

  MembershipRecord {
    members = List.copyOf(members);
    waiting = List.copyOf(waiting);
    lost = List.copyOf(lost);
  }

  /** Returns a record without members. */
  static MembershipRecord of(Joining joining) {
    return new MembershipRecord(joining.group(), joining.minWorldSize(), joining.maxWorldSize(), 0, 0, List.of(), List.of(), false, Runs.NONE, List.of());
  }

  Stream<Entry> everybody() {
    return Stream.concat(members.stream(), waiting.stream());
  }

  /** Returns the next entries after this one, in ring order, at most this number; all, if it is not in the record. */
  List<Entry> behind(String id, int most) {
    List<Entry> all = everybody().toList();
    List<Entry> out = new ArrayList<>();
    int mine = all.stream().map(Entry::id).toList().indexOf(id);
    for (int i = 1; i <= all.size() && (mine < 0 || out.size() < most); i++) {
      Entry next = all.get((mine + i + all.size()) % all.size());
      if (!next.id.equals(id)) {
        out.add(next);
      }
    }
    return out;
  }

  Optional<Entry> member(String id) {
    return members.stream().filter(entry -> entry.id.equals(id)).findFirst();
  }

  boolean isWaiting(String id) {
    return waiting.stream().anyMatch(entry -> entry.id.equals(id));
  }

  /** Returns true if all members that formed the last generation are there. */
  boolean isWhole() {
    return generation == formed && !members.isEmpty();
  }

  List<Entry> newcomers() {
    return waiting.stream().filter(Entry::isNew).toList();
  }

  /**
   * Adds a newcomer that waits. If nobody is left, it begins the group anew, with its own world size.
   *
   * @throws Conflict if there can be no seat for it while the present members live
   */
  MembershipRecord enter(String id, Joining joining) {
    if (runs.hasEnded(joining.runId())) {
      throw done(joining);
    }
    if (everybody().findAny().isEmpty()) {
      return new MembershipRecord(joining.group(), joining.minWorldSize(), joining.maxWorldSize(), formed, generation,
          List.of(), List.of(Entry.of(id, joining)), false, runs.anew(), List.of());
    }
    String who = everybody().map(Entry::toString).collect(Collectors.joining(", "));
    if (!group.equals(joining.group())) {
      throw new Conflict("group " + group + " (" + who + ") meets at this scope of the store, and " + joining.member()
          + " wants to join group " + joining.group() + "; give each group a scope of its own");
    }
    if (min != joining.minWorldSize() || max != joining.maxWorldSize()) {
      throw new Conflict("group " + group + " (" + who + ") has world size " + sizes(min, max) + ", and "
          + joining.member() + " joins with " + sizes(joining.minWorldSize(), joining.maxWorldSize())
          + "; it must be the same for all members");
    }
    if (ended) {
      throw late(joining);
    }
    everybody().filter(entry -> joining.rank() >= 0
        && (entry.wanted == joining.rank() || min == max && entry.rank == joining.rank())).findFirst().ifPresent(holder -> {
      throw new Conflict("rank " + joining.rank() + " of group " + group + " is held by " + holder
          + "; take another rank, or -1 for any, or wait until that one has ended");
    });
    everybody().filter(entry -> PublishedAddress.loopbackApart(entry.endpoint, joining.endpoint())).findFirst()
        .ifPresent(other -> {
          throw new Conflict(joining.member() + " publishes " + joining.endpoint() + " to its peers, and " + other
              + " is in group " + group + ": on loopback nobody on another machine can reach a member. Configure the host to "
              + "publish of the one on loopback");
        });
    if (everybody().count() >= max) {
      throw new Conflict("group " + group + " is full: " + joining.member() + " is too late for one of its " + max
          + " seats, held by " + who + "; wait until one of them has ended, or start all with a larger world size");
    }
    List<Entry> more = new ArrayList<>(waiting);
    more.add(Entry.of(id, joining));
    return new MembershipRecord(group, min, max, formed, generation, members, more, false, runs, lost);
  }

  private static String sizes(int min, int max) {
    return min == max ? Integer.toString(min) : min + " to " + max;
  }

  /** Lets a member wait for the next generation; this one is over. */
  MembershipRecord reform(String id) {
    return member(id).map(entry -> {
      List<Entry> more = new ArrayList<>(waiting);
      more.add(entry);
      return new MembershipRecord(group, min, max, formed, generation + 1, without(members, List.of(id)), more, ended, runs, lost);
    }).orElse(this);
  }

  /** Removes entries that have left; if any of them was a member, this generation is over. */
  MembershipRecord without(Collection<String> ids) {
    return without(ids, lost);
  }

  /** Removes entries that are lost; if any of them was a member, this generation is over. */
  MembershipRecord lose(Collection<String> ids) {
    return without(ids, Stream.concat(lost.stream(), everybody().filter(entry -> ids.contains(entry.id) && !entry.isNew())
        .map(Entry::rank)).toList());
  }

  private MembershipRecord without(Collection<String> ids, List<Integer> allLost) {
    List<Entry> left = without(members, ids);
    return new MembershipRecord(group, min, max, formed, generation + (left.size() < members.size() ? 1 : 0), left,
        without(waiting, ids), ended, runs, allLost);
  }

  /** Marks the group's work as done. */
  MembershipRecord end() {
    return new MembershipRecord(group, min, max, formed, generation, members, waiting, true, runs, lost);
  }

  /** Marks the group's work as done with success: later members of the run have nothing left to do. */
  MembershipRecord succeed(long nowMillis) {
    return new MembershipRecord(group, min, max, formed, generation, members, waiting, true, runs.succeed(nowMillis), lost);
  }

  /**
   * Returns true if a newcomer of the run that is at its end has to wait until that has succeeded, or nobody is left.
   * One without an id, or with an unknown one, may begin another run, and need not wait.
   */
  boolean awaitsEnd(Joining newcomer) {
    return ended && everybody().anyMatch(entry -> !entry.isNew()) && runs.isCurrent(newcomer.runId())
        && !runs.hasEnded(newcomer.runId());
  }

  /** Returns the error of a newcomer to a group that has ended. */
  RegattaException late(Joining newcomer) {
    return runs.hasEnded(newcomer.runId()) ? done(newcomer) : new Conflict("the run of group " + group + " has ended, too early for " + newcomer.member() + " to take part; join again "
        + "once all have left, to begin anew");
  }

  private RunEnded done(Joining newcomer) {
    return new RunEnded("run " + newcomer.runId() + " of job " + group + " has ended with success, before " + newcomer.member()
        + " joined: nothing is left to do. To train again, start the job with another run id");
  }

  private static List<Entry> without(List<Entry> entries, Collection<String> ids) {
    return entries.stream().filter(entry -> !ids.contains(entry.id)).toList();
  }

  /**
   * Returns true if the next generation can form: no member of the last one is still missing, there are enough, and
   * waiting for more is useless. Once the group has ended any number is enough, since newcomers are refused.
   *
   * @param settled nobody has come for a while
   */
  boolean isReady(boolean settled) {
    return members.isEmpty() && (ended || waiting.size() >= min)
        && (waiting.size() >= max || settled || waiting.stream().anyMatch(entry -> !entry.isNew()));
  }

  /**
   * Forms the next generation, of all that wait. The run ids of its members are added to the group's; a newcomer that
   * only waits adds none.
   *
   * @param nowMillis since the epoch: a store that has lost its content must not begin again with small generations
   */
  MembershipRecord form(long nowMillis) {
    int[] ranks = Seating.ranks(waiting.stream().map(entry -> new Seating.Candidate(entry.rank, entry.wanted)).toList());
    Entry[] seated = new Entry[ranks.length];
    Runs all = runs;
    for (int i = 0; i < ranks.length; i++) {
      seated[ranks[i]] = waiting.get(i).at(ranks[i]);
      all = all.with(waiting.get(i).run);
    }
    long next = Math.max(generation + 1, nowMillis);
    return new MembershipRecord(group, min, max, next, next, Arrays.asList(seated), List.of(), ended, all, List.of());
  }

  /**
   * Returns true if most of the members of the generation formed last are still here. Those who have left are counted on neither side.
   * Of two halves it is the one with the lowest rank. At most one part of a group that is split has a majority.
   */
  boolean hasMajority() {
    List<Integer> here = everybody().filter(entry -> !entry.isNew()).map(Entry::rank).toList();
    return lost.isEmpty() || here.size() > lost.size()
        || here.size() == lost.size() && Collections.min(here) < Collections.min(lost);
  }

  /** Returns the reason for which a part of a group without a majority cannot continue. */
  String withoutMajority() {
    long here = everybody().filter(entry -> !entry.isNew()).count();
    return "of the members of generation " + formed + " of group " + group + ", " + lost.size() + (lost.size() == 1 ? " is" : " are")
        + " lost (rank " + lost.stream().sorted().map(String::valueOf).collect(Collectors.joining(", ")) + ") and " + here
        + (here == 1 ? " is" : " are") + " left";
  }

  /** Returns the reason for which somebody still waits, as the middle of a sentence. */
  String missing() {
    if (!members.isEmpty()) {
      String state = "generation " + generation + " of group " + group;
      return waiting.stream().allMatch(Entry::isNew)
          ? state + " continues with " + members.size() + " of at most " + max + " members, and has let nobody in. Members do "
              + "that when they form the next generation; wait longer, or look at why they do not: " + names(members)
          : "of " + state + " these have not come to form the next one: " + names(members) + ". For them wait "
              + names(waiting) + "; look at what they do, or end them";
    }
    return "only " + waiting.size() + " of " + (min == max ? "" : "at least ") + min + " members of group " + group
        + " have come (" + names(waiting) + ")" + missingRanks() + ". Start the missing ones, or wait longer";
  }

  private String missingRanks() {
    List<Integer> wanted = waiting.stream().map(Entry::wanted).toList();
    return min < max || wanted.contains(-1) ? "" : ", missing ranks: " + IntStream.range(0, max)
        .filter(rank -> !wanted.contains(rank)).mapToObj(Integer::toString).collect(Collectors.joining(", "));
  }

  private static String names(List<Entry> entries) {
    return entries.stream().map(entry -> (entry.isNew() ? "" : "rank " + entry.rank + " ") + entry)
        .collect(Collectors.joining(", "));
  }

  byte[] encode() {
    return new JsonObject().put("group", group).put("min", min).put("max", max).put("formed", formed)
        .put("generation", generation).put("members", new JsonArray(members.stream().map(Entry::toJson).toList()))
        .put("waiting", new JsonArray(waiting.stream().map(Entry::toJson).toList())).put("ended", ended).put("runs", runs.toJson())
        .put("lost", new JsonArray(lost))
        .encode().getBytes(StandardCharsets.UTF_8);
  }

  static MembershipRecord decode(byte[] bytes) {
    JsonObject json = new JsonObject(new String(bytes, StandardCharsets.UTF_8));
    return new MembershipRecord(json.getString("group"), json.getInteger("min"), json.getInteger("max"), json.getLong("formed"),
        json.getLong("generation"), entries(json.getJsonArray("members")), entries(json.getJsonArray("waiting")),
        json.getBoolean("ended", false), Runs.of(json.getJsonObject("runs")),
        json.getJsonArray("lost", new JsonArray()).stream().map(Integer.class::cast).toList());
  }

  private static List<Entry> entries(JsonArray json) {
    return json.stream().map(entry -> Entry.of((JsonObject) entry)).toList();
  }
}
