package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.Member;
import java.util.Locale;

/** Who holds a rank of a {@link Group}: one life of one process. Owned by its group, on that group's thread. */
final class GroupMember {

  /** A holder starts active and ends in one of the other two; its rank may then be taken by a new holder. */
  enum State { ACTIVE, LEFT, LOST }

  /** The same for life but in an elastic group, where the next generation may give another. */
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
  /** Whether its run has ended with success, as it said when it left. */
  boolean succeeded;
  long lastStep = -1;
  /** Trained so far, of the last heartbeat. */
  long examples;
  long lastSeenMillis;
  /** When it gave its last sign of life, whatever was granted since. */
  private long heardMillis;
  /** Why it is lost. */
  private String lostFor = "";
  /** When and for whom it was asked for a sign of life; 0: it was not, or has given one. */
  private long askedMillis;
  private String askedBy = "";
  /** Streams by which it follows the group, and when the last one broke; 0: none has. */
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

  /** It has given a sign of life. */
  void seen(long nowMillis) {
    lastSeenMillis = nowMillis;
    heardMillis = nowMillis;
    askedMillis = 0;
  }

  /** Whether it has given a sign of life since then. */
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

  /** Another cannot reach it: a sign of life is due. */
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

  /** Adds to its lease, and to the time that it has to answer, one in which the rendezvous did not run. */
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

  /** Whether it can be asked. */
  boolean follows() {
    return streams > 0;
  }

  /**
   * Whether it has followed the group, and does not any more, and may be dead. One that has given signs of life for longer
   * than this without a stream lives without one.
   */
  boolean hasLostStream(long forMillis) {
    return brokeMillis > 0 && streams == 0 && lastSeenMillis - brokeMillis <= forMillis;
  }

  Member toMember() {
    return Member.newBuilder().setRank(rank).setIncarnation(incarnation).setMember(member).setEndpoint(endpoint)
        .setHost(host).setState(state.name().toLowerCase(Locale.ROOT)).setLastStep(lastStep).setExamples(examples)
        .setSucceeded(succeeded).build();
  }

  /** For messages: {@code trainer-2 at 10.0.0.7:4711}. */
  String name() {
    return member + (endpoint.isEmpty() ? "" : " at " + endpoint);
  }

  /** For messages: {@code rank 2 (trainer-2 at 10.0.0.7:4711, last seen 12.3 s ago, step 402)}. */
  String describe(long nowMillis) {
    return "rank " + rank + " (" + name() + ", last seen "
        + seconds(Math.max(0, nowMillis - lastSeenMillis)) + " ago" + (lastStep < 0 ? "" : ", step " + lastStep) + ")";
  }

  /** What a newcomer is told that wants the rank of this one, which has been heard since that came. */
  Conflict held(int wantedRank, String group, long nowMillis) {
    return new Conflict("rank " + wantedRank + " of group " + group + " is held: " + describe(nowMillis)
        + "; take another rank, or -1 for any, or end the holder first");
  }

  static String seconds(long millis) {
    return String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
  }
}
