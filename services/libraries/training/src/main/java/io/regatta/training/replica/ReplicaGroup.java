package io.regatta.training.replica;

import io.regatta.data.BadLines;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.snapshot.SnapshotCounts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/**
 * Where the model threads of one rank meet: for a step (gradients are merged, one of them exchanges for all) and for a
 * collective operation. A meeting of a step waits for all replicas that are training: one that sits in a collective
 * operation, or has ended, is not waited for; a collective operation waits for all that have not ended. The replica
 * with the lowest number among those that came leads, so who came last changes nothing. Shared by the model threads;
 * its lock is never held while a thread waits.
 */
public final class ReplicaGroup {

  private enum State { RUNNING, STEPPING, MEETING, ENDED }

  /** {@code all} is null for those who follow. */
  private record Turn<C, R>(List<C> all, CompletableFuture<R> outcome) {}

  private record Arrival<C, R>(C given, CompletableFuture<Turn<C, R>> turn) {}

  private final State[] states;
  private final Arrival<?, ?>[] arrivals;
  private final RankSteps steps;
  private final SnapshotCounts snapshots = new SnapshotCounts();
  private final List<BadLines> badLines = new CopyOnWriteArrayList<>();

  private final Set<Integer> trained = new HashSet<>();

  private volatile OthersSteps others = OthersSteps.NONE;
  private volatile Runnable beforeJoining = () -> { };

  public ReplicaGroup(int size) {
    states = new State[size];
    arrivals = new Arrival<?, ?>[size];
    steps = new RankSteps(size);
    Arrays.fill(states, State.RUNNING);
  }

  /** Number of replicas, ended ones included. */
  public int size() {
    return states.length;
  }

  /** How this rank, outside of steps of its own, takes part in those of the others until nobody makes any (collective mode). */
  public void joinsBy(OthersSteps joining) {
    others = joining;
  }

  /** What is to be done before that. */
  public void beforeJoining(Runnable action) {
    beforeJoining = action;
  }

  /** Before the rank meets the others outside of steps; on the leader's thread. */
  public void joinOthersSteps() {
    beforeJoining.run();
    others.join();
  }

  /** Takes part in one step of the others: {@link OthersSteps#joinOne}. */
  public void joinOneStep(boolean emptyBatch) {
    others.joinOne(emptyBatch);
  }

  /** The rank's count of pushes. */
  public RankSteps steps() {
    return steps;
  }

  /** The rank's snapshots. */
  public SnapshotCounts snapshots() {
    return snapshots;
  }

  /** Counts with the rank's what this one will leave out. */
  public BadLines counted(BadLines lines) {
    badLines.add(lines);
    return lines;
  }

  /** Lines that this rank's replicas have left out so far, over all passes. Any thread. */
  public long badLines() {
    return badLines.stream().mapToLong(BadLines::skipped).sum();
  }

  /**
   * Meets the other training replicas; the leader applies {@code lead} to what all have brought, in replica order, and
   * everybody gets its result, or its failure.
   */
  public <C, R> R step(TrainerSession session, int replica, String operation, C given, Function<List<C>, R> lead) {
    return meet(State.STEPPING, session, replica, operation, given, lead);
  }

  /** Meets all replicas that have not ended, for an operation outside of steps. */
  public <C, R> R collective(TrainerSession session, int replica, String operation, C given,
      Function<List<C>, R> lead) {
    return meet(State.MEETING, session, replica, operation, given, lead);
  }

  /** Records that a replica has trained all that it has to. Repeating it changes nothing. */
  public synchronized void trained(int replica) {
    trained.add(replica);
  }

  /** Returns true once all replicas have trained all that they have to. */
  public synchronized boolean haveAllTrained() {
    return trained.size() == states.length;
  }

  /** The replica has ended its run: nobody waits for it any more. Repeating it changes nothing. */
  public void end(int replica) {
    release(enter(State.ENDED, replica, null));
  }

  private <C, R> R meet(State state, TrainerSession session, int replica, String operation, C given,
      Function<List<C>, R> lead) {
    Arrival<C, R> mine = new Arrival<>(given, new CompletableFuture<>());
    release(enter(state, replica, mine));
    Turn<C, R> turn = session.await(operation, mine.turn());
    if (turn.all() == null) {
      return session.await(operation, turn.outcome());
    }
    try {
      R result = lead.apply(turn.all());
      turn.outcome().complete(result);
      return result;
    } catch (RuntimeException | Error e) {
      turn.outcome().completeExceptionally(e);
      throw e;
    }
  }

  /** Notes an arrival; returns those who have thereby become complete, in replica order. */
  private synchronized List<Arrival<?, ?>> enter(State state, int replica, Arrival<?, ?> arrival) {
    if (states[replica] == State.ENDED && state != State.ENDED) {
      throw new IllegalStateException("replica " + replica + " has ended its run");
    }
    states[replica] = state;
    arrivals[replica] = arrival;
    List<State> all = Arrays.asList(states);
    if (all.contains(State.RUNNING)) {
      return List.of();
    }
    State complete = all.contains(State.STEPPING) ? State.STEPPING : State.MEETING;
    List<Arrival<?, ?>> released = new ArrayList<>();
    for (int r = 0; r < states.length; r++) {
      if (states[r] == complete) {
        released.add(arrivals[r]);
        states[r] = State.RUNNING;
        arrivals[r] = null;
      }
    }
    return released;
  }

  /** All arrivals of one meeting are of one operation, and so of one type. */
  @SuppressWarnings("unchecked")
  private static <C, R> void release(List<Arrival<?, ?>> arrivals) {
    CompletableFuture<R> outcome = new CompletableFuture<>();
    List<C> all = new ArrayList<>(arrivals.size());
    arrivals.forEach(a -> all.add((C) a.given()));
    for (int i = 0; i < arrivals.size(); i++) {
      ((Arrival<C, R>) arrivals.get(i)).turn().complete(new Turn<>(i == 0 ? all : null, outcome));
    }
  }
}
