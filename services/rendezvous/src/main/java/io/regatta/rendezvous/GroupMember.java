package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.Member;
import java.util.Locale;

/** One life of one process that holds, or held, a rank of a {@link Group}. Owned by its group, on its thread. */
final class GroupMember {

  /** A holder starts active and ends in one of the other two; its rank may then be taken by a new holder. */
  enum State { ACTIVE, LEFT, LOST }

  /** Constant for the whole life, except in an elastic group, where the next generation may assign another. */
  int rank;
  /** The rank that it asked for, -1 for any. */
  final int wanted;
  final long incarnation;
  final String member;
  final String endpoint;
  private final String host;
  /** Id of the run that it came from, which launchers give; empty: none. */
  final String runId;
  State state = State.ACTIVE;
  /** True if its run has ended with success, as it reported when it left. */
  boolean succeeded;
  long lastStep = -1;
  /** Number of examples trained so far, of the last heartbeat. */
  long examples;
  long lastSeenMillis;
  /** Time of its last heartbeat, without the time granted since. */
  private long heardMillis;
  /** Reason of its loss. */
  private String lostFor = "";
  /** Time at which it was asked for a heartbeat; 0: it was not, or has sent one since. */
  private long askedMillis;
  private String askedBy = "";
  /** Number of streams by which it follows the group, and the time at which the last one broke; 0: none has. */
  private int streams;
  private long brokeMillis;

  /** @param join by which it came */
  GroupMember(int rank, long incarnation, JoinRequest join, long nowMillis) {
    this.rank = rank;
    this.wanted = join.getRank();
    this.incarnation = incarnation;
    this.member = join.getMember();
    this.endpoint = join.getEndpoint();
    this.host = join.getHost();
    this.runId = join.getRunId();
    seen(nowMillis);
  }

  boolean active() {
    return state == State.ACTIVE;
  }

  /** Notes a heartbeat. */
  void seen(long nowMillis) {
    lastSeenMillis = nowMillis;
    heardMillis = nowMillis;
    askedMillis = 0;
  }

  /** Returns true if it has sent a heartbeat since then. */
  boolean heardAfter(long millis) {
    return heardMillis > millis;
  }

  void lose(String why) {
    state = State.LOST;
    lostFor = why;
    askedMillis = 0;
  }

  String lostFor() {
    return lostFor;
  }

  /** Notes that another cannot reach it: a heartbeat is due. */
  void ask(String by, long nowMillis) {
    askedMillis = nowMillis;
    askedBy = by;
  }

  boolean isAsked() {
    return active() && askedMillis > 0;
  }

  long askedMillis() {
    return askedMillis;
  }

  String askedBy() {
    return askedBy;
  }

  /** Adds a time in which the rendezvous did not run to its lease, and to the time that it has to answer. */
  void grantBack(long leaseMillis, long answerMillis) {
    lastSeenMillis += leaseMillis;
    askedMillis += isAsked() ? answerMillis : 0;
    brokeMillis += brokeMillis > 0 ? leaseMillis : 0;
  }

  void followsBy() {
    streams++;
  }

  void followsNoMore(long nowMillis) {
    streams--;
    brokeMillis = nowMillis;
  }

  /** Returns true if it can be asked. */
  boolean follows() {
    return streams > 0;
  }

  /**
   * Returns true if it has followed the group, does so no longer, and may be dead. A member that has sent heartbeats
   * for longer than this without a stream lives without one.
   */
  boolean hasLostStream(long forMillis) {
    return brokeMillis > 0 && streams == 0 && lastSeenMillis - brokeMillis <= forMillis;
  }

  Member toMember() {
    return Member.newBuilder().setRank(rank).setIncarnation(incarnation).setMember(member).setEndpoint(endpoint)
        .setHost(host).setState(state.name().toLowerCase(Locale.ROOT)).setLastStep(lastStep).setExamples(examples)
        .setSucceeded(succeeded).build();
  }

  /** Returns a name for messages: {@code trainer-2 at 10.0.0.7:4711}. */
  String name() {
    return member + (endpoint.isEmpty() ? "" : " at " + endpoint);
  }

  /**
   * Returns a description for messages: {@code rank 2 (trainer-2 at 10.0.0.7:4711, last seen 12.3 s ago, step 402)}.
   */
  String describe(long nowMillis) {
    return "rank " + rank + " (" + name() + ", last seen "
        + seconds(Math.max(0, nowMillis - lastSeenMillis)) + " ago" + (lastStep < 0 ? "" : ", step " + lastStep) + ")";
  }

  /**
   * Returns the error of a newcomer that wants this member's rank, if this member has been heard since the newcomer
   * came.
   */
  Conflict held(int wantedRank, String group, long nowMillis) {
    return new Conflict("rank " + wantedRank + " of group " + group + " is held: " + describe(nowMillis)
        + "; take another rank, or -1 for any, or end the holder first");
  }

  static String seconds(long millis) {
    return String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
  }
}
