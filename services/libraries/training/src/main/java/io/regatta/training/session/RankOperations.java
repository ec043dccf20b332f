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
 * The {@link RankOperation}s that one rank of a collective job makes together with the others, one after another. An
 * operation needs all ranks, so what two ranks have completed differs by at most the last one; each keeps that one's
 * result. In a group of a fixed number of ranks the loss of one ends an operation, and the run with it.
 *
 * <p>In an elastic group operations are made whoever dies, leaves or comes meanwhile. When a generation is over all who
 * are left form the next one and tell each other how far they are. Who has completed more gives the result, and after a
 * step parameters and optimizer, to those who have not; if nobody has, all attempt the operation again. A newcomer is
 * given everything.
 *
 * <p>Belongs to the rank's only model thread.
 */
public final class RankOperations {

  private static final Logger LOG = LoggerFactory.getLogger(RankOperations.class);

  private static final int OPERATIONS = 0;
  private static final int RUN = 1;
  private static final int RESULT_FLOATS = 2;
  /** Between generations that come to nothing, as where members cannot reach each other, and over a store nobody takes one out. */
  private static final long PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 3200;

  /** How a model thread waits, as {@link TrainerSession#await}. */
  public interface Waiting {
    <T> T await(String operation, CompletionStage<T> stage);
  }

  private final Clock clock;
  private final String name;
  private final RankGroup peers;
  private final Waiting waiting;
  private final ElasticPasses passes;
  private final OperationCalls calls;
  /** Told from other lives by. */
  private final long life = ThreadLocalRandom.current().nextLong(1L << 52);
  private boolean fresh = true;
  private boolean generationIsOver;
  /** Completed so far; when this generation was asked for, or began; and generations that have begun since the group's first. */
  private long operations;
  private long operationsBefore;
  private long beginnings;
  /** Of the last operation. */
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

  /** A number that no other life of a rank has; exact in a double. */
  public long life() {
    return life;
  }

  /** Operations that this rank has completed. */
  public long operations() {
    return operations;
  }

  /** The first thing of all: a newcomer takes over where the others are; in a group's first generation all begin. */
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

  /** Forms the next generation, with those who have come, between two operations. All ranks call it at the same place. */
  public void reform(String why) {
    LOG.info("{}: generation {} ends behind {} operations: {}", who(), peers.generation(), operations, why);
    generationIsOver = true;
    perform(new Pause("boundary of generations"));
  }

  /** Nothing to be done but to be in the same generation. */
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
   * Makes an operation with all ranks; returns its result when it is done, in an elastic group whatever becomes of
   * others on the way.
   */
  public RankOperation.Result perform(RankOperation operation) {
    String what = operation.name();
    Stopwatch sinceLoss = null;
    long pause = 0;
    while (true) {
      try {
        if (generationIsOver && goOn(operation)) {
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
        LOG.warn("{}, {}: generation {} with {} trainers is over, those who are left form the next one{}: {}", who(), what,
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

  /** Whether nothing has been completed in this generation, be it that it was not formed. */
  private boolean isInVain() {
    return operations == operationsBefore;
  }

  /** Forms the next generation; returns whether others have completed the operation. */
  private boolean goOn(RankOperation pending) {
    Stopwatch forming = Stopwatch.start(clock);
    int before = peers.worldSize();
    boolean inVain = isInVain();
    operationsBefore = operations; // of the next one, which may come to nothing before it begins
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

  /** A generation has formed: all come to where the furthest are. Nothing changes here before all of that has come. */
  private boolean begin(RankOperation pending) {
    long[] told = fresh ? new long[0] : told(pending.isCall());
    long[] facts = new long[Math.multiplyExact(peers.worldSize(), Recovery.FACTS)];
    new Recovery(fresh, life, operations, beginnings, pending.holdsBatch(), told.length, fresh ? 0 : floatsTold())
        .put(facts, peers.rank());
    await("places of all trainers", peers.gather(facts));
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
        copy(best, furthest, told);
      }
    }
    long reached = operations;
    operationsBefore = reached;
    passes.deal(rows, reached);
    beginnings = rows.stream().filter(row -> row.operations() == reached).mapToLong(Recovery::beginnings).max().orElse(0) + 1;
    fresh = false;
    return completed;
  }

  /** The furthest rank tells all that it has; who lacks something takes it. */
  private void copy(Recovery best, int root, long[] told) {
    boolean gives = peers.rank() == root;
    long[] longs = gives ? told : new long[best.longs()];
    ByteBuffer memory = Recovery.memory(best.floats());
    if (gives) {
      FloatBuffer to = Recovery.floats(memory);
      to.put(last.floats());
      state.write(to);
    }
    await("place of rank " + root, peers.broadcast(longs, root));
    if (best.floats() > 0) {
      await("parameters and optimizer of rank " + root, peers.broadcast(memory, root));
    }
    if (fresh || operations < best.operations() || beginnings < best.beginnings()) {
      take(longs, Recovery.floats(memory));
    }
  }

  /** All that this rank has, but for the floats. */
  private long[] told(boolean inCall) {
    return Recovery.packed(new long[] {operations, run, last.floats().length}, last.longs(), passes.told(inCall),
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
   * From now on this is what is copied. Takes over what this rank was given when it came; returns whether it was.
   *
   * @param elasticBy the key that makes the job elastic, for messages
   * @throws InvalidInput if it is more than can be copied at once
   */
  public boolean keeps(ElasticState of, String elasticBy) {
    return state.keeps(of, who(), elasticBy, last.floats().length);
  }

  /** Whether this rank has come to a run that had begun, and holds what {@link #keeps} will put into its model. */
  public boolean isGiven() {
    return state.isGiven();
  }

  /** A number that the ranks have agreed on for this run; 0: none yet. */
  public long run() {
    return run;
  }

  /** All ranks have agreed on this number for the run. */
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
