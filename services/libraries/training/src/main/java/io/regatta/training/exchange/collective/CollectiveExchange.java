package io.regatta.training.exchange.collective;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.collective.BucketPlan;
import io.regatta.core.collective.BucketPlan.Bucket;
import io.regatta.core.collective.TensorMemory;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.training.config.CollectiveConfig;
import io.regatta.training.config.Communication;
import io.regatta.training.config.DgcConfigs;
import io.regatta.training.replica.Exchange;
import io.regatta.training.replica.Gradients;
import io.regatta.training.replica.OthersSteps;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.StepTimes;
import io.regatta.training.session.RankOperation;
import io.regatta.training.session.RankOperations;
import io.regatta.training.session.TrainerSession;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

/**
 * The exchange of collective mode: the ranks sum their gradients, weighted by examples, bucket by bucket
 * ({@link BucketPlan}), each as soon as backward has computed it. Then every rank makes the same update of its own
 * copy, in {@code OwnShards}, so that all have the same bits. Belongs to a rank's only model thread.
 *
 * <p>The step's {@link StepHeader} follows the gradients, and is sent with the first bucket (or alone, see
 * {@link GradientSum}). A variable without a gradient on a rank counts with zeros, as it would in one process;
 * variables without any gradient are named in the log. A rank that is outside of steps (out of data, waiting in a
 * barrier or at its end) takes part without gradients ({@link #join}) until no rank makes a step.
 *
 * <p>Each step is an {@link RankOperation} of the ranks. In an elastic job it survives the loss of some: if no rank has
 * completed it, the remaining ones make it again with the gradients that they have computed. These are kept, weighted,
 * beside the memory in which buckets are summed.
 */
public final class CollectiveExchange implements Exchange, OthersSteps {

  private final TrainerSession session;
  private final RankOperations ranks;
  private final RankSteps steps;
  private final OwnCopy own;
  private final BucketPlan plan;
  private final int numel;
  private final StepHeader header;
  private final UnusedVariables unused;
  /** Examples of a full batch, whose weight is 1, so that it need not be scaled before the sum. */
  private final double fullBatch;
  private final GradientSum sum;
  private final BucketSums sums;
  /** True if a step may have to be made again. */
  private final boolean repeats;
  /** This rank's gradients of the step, times their weight; empty if no step is made again. */
  private final FloatBuffer kept;
  private BitSet fresh = new BitSet();
  private double weight;
  /** True if the buckets of a step have been sent as backward computed them. */
  private boolean sent;
  private Runnable joined = () -> { };

  /** @param optimizer the job's; the client has the part that {@code communication} leaves to it */
  public CollectiveExchange(ReplicaContext replica, ParameterClient client, Communication communication, OptimizerSpec optimizer,
      StepTimes times) {
    session = replica.session();
    ranks = session.ranks().orElseThrow();
    steps = replica.group().steps();
    own = new OwnCopy(replica, client, times);
    List<DenseVariable> variables = client.job().model().dense();
    CollectiveConfig config = session.job().collective();
    plan = BucketPlan.of(variables, config.bucketBytes(), config.lastBucketBytes());
    numel = client.job().model().denseNumel();
    int most = session.job().trainers();
    String job = session.job().job();
    StepLedger ledger = StepLedger.of(job, ranks, most);
    repeats = ledger.repeatsSteps();
    header = new StepHeader(numel, ledger, variables.size());
    unused = new UnusedVariables(() -> "trainer " + session.trainer().rank() + " of job " + job, variables);
    fullBatch = session.job().batchSize();
    CountedRanks counted = new CountedRanks(ranks.peers(), most, session.job().aggregator());
    sum = communication instanceof DgcConfigs dgc
        ? new LargestSum(counted, session.trainer().rank(), most, variables, dgc.toSpec(), optimizer)
        : new WholeSum(counted, most, ((Communication.AllReduce) communication).wire());
    sums = new BucketSums(session, counted, sum, numel, times);
    int copied = repeats ? Math.multiplyExact(numel, Float.BYTES) : 0;
    kept = ByteBuffer.allocateDirect(copied).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
  }

  public BucketPlan plan() {
    return plan;
  }

  @Override
  public DenseMemory start() {
    DenseMemory values = own.start();
    sum.starts(values);
    return values;
  }

  @Override
  public Map<String, float[]> kept() {
    return sum.kept();
  }

  @Override
  public int floatsBehind() {
    return header.size();
  }

  @Override
  public TensorMemory memory(int bytes) {
    return sums.allocate(bytes);
  }

  @Override
  public GradientReader reader(double examples) {
    return new GradientReader() {
      private FloatBuffer floats;

      @Override
      public void begins(TensorMemory flat, BitSet its) {
        fresh = its;
        weight = examples / fullBatch;
        unused.own(its, steps.made());
        floats = begin(flat, true, true, false);
        sent = true;
      }

      @Override
      public void has(int variable) {
        Bucket full = plan.fullWith(variable);
        if (full != null) {
          Scaling.scale(floats, full.from(), full.to(), weight);
          if (repeats) {
            kept.put(full.from(), floats, full.from(), full.to() - full.from());
          }
          send(full);
        }
      }
    };
  }

  /**
   * Begins an attempt of a step in this memory, and writes this rank's header.
   *
   * @param stepping true if it has gradients
   * @param trains true if it trains the batch that it was assigned
   * @param gone see {@link StepLedger#write}
   */
  private FloatBuffer begin(TensorMemory memory, boolean stepping, boolean trains, boolean gone) {
    sums.begins(memory, steps.made(), stepping ? weight : 0);
    FloatBuffer floats = sums.floats();
    header.write(floats, stepping, stepping ? weight : 0, stepping ? fresh : new BitSet());
    header.writeLedger(floats, trains, gone);
    return floats;
  }

  /** Sends a bucket. The first bucket extends to the end of the vector, and includes the header after it. */
  private void send(Bucket bucket) {
    send(bucket, bucket == plan.buckets().get(0) ? numel + header.size() : bucket.to());
  }

  private void sendGradients(Bucket bucket) {
    send(bucket, bucket.to());
  }

  private void send(Bucket bucket, int to) {
    sums.send("step " + steps.made() + ", bucket " + plan.buckets().indexOf(bucket), bucket.from(), to);
  }

  /** Returns the values of the next step; the same bits on all ranks. */
  @Override
  public DenseMemory step(Gradients mine, List<SparseIds> next) {
    own.stepBegins();
    OwnStep step = new OwnStep(mine.dense());
    perform(step);
    return step.values;
  }

  /** Takes part in the steps of the others without examples, and makes their updates, until they make none. */
  @Override
  public void join() {
    header.ledger().join(() -> joinOne(false, true));
  }

  @Override
  public void joinOne(boolean emptyBatch) {
    joinOne(emptyBatch, false);
  }

  /** Takes part in one step; returns true if any of the others has stepped. */
  private boolean joinOne(boolean trains, boolean gone) {
    OthersStep step = new OthersStep(trains, gone);
    perform(step);
    if (step.values == null) {
      return false;
    }
    own.othersStepped(step.values);
    joined.run();
    return true;
  }

  /** Performs a step, and then lets newcomers join. A rank that was behind in this step has let them join already. */
  private void perform(Step step) {
    ranks.perform(step);
    if (step.newcomers) {
      ranks.reform("there are newcomers");
    }
  }

  /** One step of all ranks. */
  private abstract class Step implements RankOperation {
    private final boolean trains;
    boolean newcomers;
    /** Null if no rank has stepped. */
    DenseMemory values;

    Step(boolean trains) {
      this.trains = trains;
    }

    @Override
    public final String name() {
      return "step " + steps.made();
    }

    @Override
    public final boolean holdsBatch() {
      return trains;
    }

    @Override
    public final Result attempt() {
      try {
        exchange();
      } catch (PeerLost e) {
        if (repeats) {
          sums.drain(); // running exchanges still use the memory
        }
        throw e;
      }
      newcomers = header.completed(sums.floats());
      return Result.NONE;
    }

    /** Sends this rank's gradients, waits for all, and makes the update. */
    abstract void exchange();

    /** Waits for the step's first bucket, and the header with it; returns the weight of all ranks. */
    final double awaitFirst() {
      sums.awaitNext();
      double stepping = header.stepping(sums.floats());
      if (stepping > 0) {
        unused.all(sums.floats(), header.counts(), stepping, steps.made());
      }
      return header.weight(sums.floats());
    }

    final void update(DenseMemory gradients, double weights) {
      values = own.update(weights * fullBatch, sums.mean(gradients, weights));
    }

    @Override
    public final void completed(Result result) {
      newcomers = false;
      values = own.values();
    }
  }

  /** A step in which this rank has gradients, whose buckets were sent as backward computed them. */
  private final class OwnStep extends Step {
    private final DenseMemory gradients;

    OwnStep(DenseMemory gradients) {
      super(true);
      this.gradients = gradients;
    }

    @Override
    void exchange() {
      if (!sent) {
        sums.floats().put(0, kept, 0, numel);
        begin(sums.memory(), true, true, false);
        plan.buckets().forEach(CollectiveExchange.this::send);
      }
      sent = false;
      double weights = awaitFirst();
      plan.buckets().subList(1, plan.buckets().size()).forEach(bucket -> sums.awaitNext());
      sums.stepped();
      update(gradients, weights);
    }
  }

  /** A step of the others, if they make one: the header says so, and if that is cheap it is sent alone first. */
  private final class OthersStep extends Step {
    private final boolean emptyBatch;
    private final boolean gone;

    OthersStep(boolean emptyBatch, boolean gone) {
      super(emptyBatch);
      this.emptyBatch = emptyBatch;
      this.gone = gone;
    }

    @Override
    void exchange() {
      TensorMemory memory = sums.memory() != null ? sums.memory()
          : memory(Math.multiplyExact(numel + header.size(), Float.BYTES));
      FloatBuffer floats = begin(memory, false, emptyBatch, gone);
      Bucket first = plan.buckets().get(0);
      boolean asksFirst = sums.sendsHeaderApart(first.from());
      if (asksFirst) {
        sums.sendHeader("step " + steps.made() + ", header", numel + header.size());
      } else {
        Scaling.scale(floats, first.from(), first.to(), 0);
        send(first);
      }
      double weights = awaitFirst();
      if (header.stepping(floats) == 0) {
        return;
      }
      Scaling.scale(floats, 0, asksFirst ? numel : first.from(), 0);
      List<Bucket> missing = plan.buckets().subList(asksFirst ? 0 : 1, plan.buckets().size());
      missing.forEach(CollectiveExchange.this::sendGradients);
      missing.forEach(bucket -> sums.awaitNext());
      update(DenseMemory.of(memory.floats(0, numel)), weights);
    }
  }

  @Override
  public void onJoined(Runnable told) {
    joined = told;
  }

  @Override
  public boolean averages() {
    return true;
  }

  @Override
  public void average(float[] values) {
    ranks.calls().averageFrozen(values);
  }

  @Override
  public DenseMemory resumed() {
    return own.resumed();
  }

  @Override
  public DenseMemory newest() {
    return own.newest();
  }

  @Override
  public Map<String, Double> figures() {
    return sums.figures();
  }
}
