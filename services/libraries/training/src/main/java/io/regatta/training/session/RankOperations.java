package io.regatta.training.session;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Stopwatch;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@link RankOperation}s that one rank of a collective job makes together with the others, one after another.
 * Belongs to the rank's only model thread. An operation needs all ranks, so the operations that two ranks have
 * completed differ by at most the last one; each keeps its result. In a group of a fixed number of ranks the loss of
 * one ends an operation, and the run with it.
 *
 * <p>In an elastic group operations complete although trainers are lost, leave or join meanwhile. When a generation is
 * over, the remaining ranks form the next one and exchange their progress. A rank that has completed more sends the
 * result, and after a step parameters and optimizer, to those that have not. If no rank has completed the operation,
 * all attempt it again. A newcomer receives the whole state.
 */
public final class RankOperations {

  private static final Logger LOG = LoggerFactory.getLogger(RankOperations.class);

  private static final int OPERATIONS = 0;
  private static final int RUN = 1;
  private static final int RESULT_FLOATS = 2;
  /**
   * Pause between generations that complete nothing, as when members cannot reach each other, and no member of a store
   * removes another.
   */
  private static final long PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 3200;

  /** The wait of a model thread, as {@link TrainerSession#await}. */
  public interface Waiting {
    <T> T await(String operation, CompletionStage<T> stage);
  }

  private final Clock clock;
  private final String name;
  private final RankGroup peers;
  private final Waiting waiting;
  private final ElasticPasses passes;
  private final OperationCalls calls;
  /** Number that distinguishes this incarnation of a rank from others. */
  private final long life = ThreadLocalRandom.current().nextLong(1L << 52);
  private boolean fresh = true;
  private boolean generationIsOver;
  /**
   * Operations completed so far; those completed when this generation was requested, or began; and generations that
   * have begun since the group's first.
   */
  private long operations;
  private long operationsBefore;
  private long beginnings;
  /** Result of the last operation. */
  private RankOperation.Result last = RankOperation.Result.NONE;
  private long run;
  private final StateCopy state = new StateCopy();

  /** @param name of this trainer, for messages, e.g. {@code trainer of job lenet} */
  public RankOperations(Clock clock, String name, RankGroup peers, Waiting waiting) {
    this.clock = clock;
    this.name = name;
    this.peers = peers;
    this.waiting = waiting;
    passes = new ElasticPasses(peers);
    calls = new OperationCalls(this);
  }

  public RankGroup peers() {
    return peers;
  }

  public ElasticPasses passes() {
    return passes;
  }

  public OperationCalls calls() {
    return calls;
  }

  /** Returns a number that no other incarnation of a rank has; exact in a double. */
  public long life() {
    return life;
  }

  /** Returns the operations that this rank has completed. */
  public long operations() {
    return operations;
  }

  /**
   * Enters the group, before anything else: a newcomer takes over the others' state; in a group's first generation all
   * begin.
   */
  public void enter() {
    perform(new Pause("beginning") {
      @Override
      public Result attempt() {
        if (fresh) {
          begin(this);
        }
        return null;
      }
    });
  }

  /** Forms the next generation, with the newcomers, between two operations. All ranks call it at the same place. */
  public void reform(String why) {
    LOG.info("{}: generation {} ends after {} operations: {}", who(), peers.generation(), operations, why);
    generationIsOver = true;
    perform(new Pause("boundary of generations"));
  }

  /** An operation that only requires to be in the same generation. */
  private static class Pause implements RankOperation {
    private final String what;

    Pause(String what) {
      this.what = what;
    }

    @Override
    public String name() {
      return what;
    }

    @Override
    public Result attempt() {
      return null;
    }

    @Override
    public void completed(Result result) {}
  }

  /**
   * Makes an operation with all ranks; returns its result when it is complete, in an elastic group even if others are
   * lost meanwhile.
   */
  public RankOperation.Result perform(RankOperation operation) {
    String what = operation.name();
    Stopwatch sinceLoss = null;
    long pause = 0;
    while (true) {
      try {
        if (generationIsOver && resume(operation)) {
          operation.completed(last);
          break;
        }
        RankOperation.Result result = operation.attempt();
        if (result != null) {
          last = result;
          operations++;
        }
        break;
      } catch (PeerLost e) {
        if (!peers.isElastic()) {
          throw e;
        }
        sinceLoss = sinceLoss == null ? Stopwatch.start(clock) : sinceLoss;
        generationIsOver = true;
        pause = isInVain() ? Math.min(Math.max(PAUSE_MILLIS, 2 * pause), LONGEST_PAUSE_MILLIS) : 0;
        LOG.warn("{}, {}: generation {} with {} trainers is over, the remaining ones form the next{}: {}", who(), what,
            peers.generation(), peers.worldSize(), pause == 0 ? "" : " in " + pause + " ms", e.getMessage());
        if (pause > 0) {
          await("pause before the next generation of trainers", peers.pause(pause));
        }
      }
    }
    if (sinceLoss != null) {
      LOG.info("{}: {} is done, with {} trainers, {} ms after the loss was noticed", who(), what, peers.worldSize(),
          sinceLoss.millis());
    }
    return last;
  }

  /** Returns true if nothing has been completed in this generation, or it was not formed. */
  private boolean isInVain() {
    return operations == operationsBefore;
  }

  /** Forms the next generation; returns true if others have completed the operation. */
  private boolean resume(RankOperation pending) {
    Stopwatch forming = Stopwatch.start(clock);
    int before = peers.worldSize();
    boolean inVain = isInVain();
    operationsBefore = operations; // of the next one, which may be over before it begins
    await("the next generation of trainers", peers.reform(inVain));
    long formedMillis = forming.millis();
    Stopwatch agreeing = Stopwatch.start(clock);
    boolean completed = begin(pending);
    generationIsOver = false;
    LOG.info("{}: generation {} has {} trainers after {}; formed in {} ms, agreed in {} ms that {} operations are done{}", who(),
        peers.generation(), peers.worldSize(), before, formedMillis, agreeing.millis(), operations,
        completed ? ", the last of them by others" : "");
    return completed;
  }

  /**
   * Begins a generation: all ranks take over the state of the furthest. Nothing changes here before all of it has
   * arrived.
   */
  private boolean begin(RankOperation pending) {
    long[] packedState = fresh ? new long[0] : packedState(pending.isCall());
    long[] facts = new long[Math.multiplyExact(peers.worldSize(), Recovery.FACTS)];
    new Recovery(fresh, life, operations, beginnings, pending.holdsBatch(), packedState.length, fresh ? 0 : floatsTold())
        .put(facts, peers.rank());
    await("progress of all trainers", peers.gather(facts));
    List<Recovery> rows = Recovery.rows(facts);
    int furthest = Recovery.furthest(rows);
    boolean completed = false;
    if (furthest >= 0) {
      Recovery best = rows.get(furthest);
      completed = !fresh && operations < best.operations();
      if (completed && operations < best.operations() - 1) {
        throw new IllegalStateException(who() + " has completed " + operations + " operations, but rank " + furthest + " "
            + best.operations() + "; they can differ by one only");
      }
      if (rows.stream().anyMatch(row -> row.isBehind(best))) {
        copy(best, furthest, packedState);
      }
    }
    long reached = operations;
    operationsBefore = reached;
    passes.deal(rows, reached);
    beginnings = rows.stream().filter(row -> row.operations() == reached).mapToLong(Recovery::beginnings).max().orElse(0) + 1;
    fresh = false;
    return completed;
  }

  /** Copies the state of the furthest rank; ranks that lack some of it take it. */
  private void copy(Recovery best, int root, long[] packedState) {
    boolean gives = peers.rank() == root;
    long[] longs = gives ? packedState : new long[best.longs()];
    ByteBuffer memory = Recovery.memory(best.floats());
    if (gives) {
      FloatBuffer to = Recovery.floats(memory);
      to.put(last.floats());
      state.write(to);
    }
    await("progress of rank " + root, peers.broadcast(longs, root));
    if (best.floats() > 0) {
      await("parameters and optimizer of rank " + root, peers.broadcast(memory, root));
    }
    if (fresh || operations < best.operations() || beginnings < best.beginnings()) {
      take(longs, Recovery.floats(memory));
    }
  }

  /** Returns all state of this rank except the floats. */
  private long[] packedState(boolean inCall) {
    return Recovery.packed(new long[] {operations, run, last.floats().length}, last.longs(), passes.packedState(inCall),
        state.progress());
  }

  private int floatsTold() {
    return Math.addExact(last.floats().length, state.floats());
  }

  private void take(long[] longs, FloatBuffer floats) {
    List<long[]> parts = Recovery.unpacked(longs);
    long[] counts = parts.get(0);
    float[] resultFloats = new float[(int) counts[RESULT_FLOATS]];
    floats.get(resultFloats);
    state.take(floats, parts.get(3));
    operations = counts[OPERATIONS];
    run = counts[RUN];
    last = new RankOperation.Result(parts.get(1), resultFloats);
    passes.take(parts.get(2), fresh);
  }

  /**
   * Sets the state that is copied to others, and puts into it what this rank received when it joined; returns true if
   * it received any.
   *
   * @param elasticBy the key that makes the job elastic, for messages
   * @throws InvalidInput if it is more than can be copied at once
   */
  public boolean keeps(ElasticState of, String elasticBy) {
    return state.keeps(of, who(), elasticBy, last.floats().length);
  }

  /**
   * Returns true if this rank has joined a run that had begun, and holds the state that {@link #keeps} will put into
   * its model.
   */
  public boolean isGiven() {
    return state.isGiven();
  }

  /** Returns a number on which the ranks have agreed for this run; 0: none yet. */
  public long run() {
    return run;
  }

  /** Notes the number on which all ranks have agreed for the run. */
  public void run(long number) {
    run = number;
  }

  <T> T await(String operation, CompletionStage<T> stage) {
    return waiting.await(operation, stage);
  }

  private String who() {
    return name + ", rank " + peers.rank();
  }
}
