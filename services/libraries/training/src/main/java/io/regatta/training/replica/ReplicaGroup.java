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
 * The meeting point of the model threads of one rank: for a step, in which gradients are merged and one thread
 * exchanges for all, and for a collective operation. Shared by the model threads; its lock is never held while a thread
 * waits.
 *
 * <p>A step waits for all replicas that are training, but not for those that are in a collective operation or have
 * ended. A collective operation waits for all that have not ended. The replica with the lowest number among those
 * present leads, so the order of arrival changes nothing.
 */
public final class ReplicaGroup {

  private enum State { RUNNING, STEPPING, MEETING, ENDED }

  /** A turn of a meeting; {@code all} is null for followers. */
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

  /** Returns the number of replicas, including ended ones. */
  public int size() {
    return states.length;
  }

  /**
   * Sets how this rank, outside of its own steps, takes part in those of the others until none makes any (collective
   * mode).
   */
  public void joinsBy(OthersSteps joining) {
    others = joining;
  }

  /** Sets the action before that participation. */
  public void beforeJoining(Runnable action) {
    beforeJoining = action;
  }

  /** Takes part in the others' steps, before the rank meets them outside of steps; on the leader's thread. */
  public void joinOthersSteps() {
    beforeJoining.run();
    others.join();
  }

  /** Takes part in one step of the others; see {@link OthersSteps#joinOne}. */
  public void joinOneStep(boolean emptyBatch) {
    others.joinOne(emptyBatch);
  }

  /** Returns the rank's progress. */
  public RankSteps steps() {
    return steps;
  }

  /** Returns the rank's snapshot counts. */
  public SnapshotCounts snapshots() {
    return snapshots;
  }

  /** Registers a policy for bad lines, so that the lines it skips count for the rank. */
  public BadLines counted(BadLines lines) {
    badLines.add(lines);
    return lines;
  }

  /** Returns the lines that this rank's replicas have skipped so far, over all passes. Any thread. */
  public long badLines() {
    return badLines.stream().mapToLong(BadLines::skipped).sum();
  }

  /**
   * Meets the other training replicas. The leader applies {@code lead} to the values of all, in replica order, and all
   * get its result, or its failure.
   */
  public <C, R> R step(TrainerSession session, int replica, String operation, C given, Function<List<C>, R> lead) {
    return meet(State.STEPPING, session, replica, operation, given, lead);
  }

  /** Meets all replicas that have not ended, for an operation outside of steps. */
  public <C, R> R collective(TrainerSession session, int replica, String operation, C given,
      Function<List<C>, R> lead) {
    return meet(State.MEETING, session, replica, operation, given, lead);
  }

  /** Notes that a replica has trained all of its data. Repeating it changes nothing. */
  public synchronized void trained(int replica) {
    trained.add(replica);
  }

  /** Returns true once all replicas have trained all of their data. */
  public synchronized boolean haveAllTrained() {
    return trained.size() == states.length;
  }

  /** Ends the run of a replica: the others no longer wait for it. Repeating it changes nothing. */
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

  /** Notes an arrival; returns the arrivals that are complete now, in replica order. */
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

  /** Releases the arrivals of one meeting, which are all of one operation, and so of one type. */
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
