package io.regatta.trainer.djl;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.collective.BucketPlan;
import io.regatta.core.collective.BucketPlan.Bucket;
import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.model.DenseVariable;
import io.regatta.trainer.config.CollectiveConfig;
import io.regatta.trainer.session.ElasticRank;
import io.regatta.trainer.session.Operation;
import io.regatta.trainer.session.TrainerSession;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@link CollectiveExchange} in an elastic job: each step is an {@link Operation} of the ranks, which outlives the loss of some. A
 * step that nobody has completed is made again by those who are left, with the gradients that they have computed: these are kept,
 * weighted, beside the memory in which buckets are summed. The header says besides who has trained a batch, who has none left, and
 * who knows of newcomers; these are let in behind the step. Belongs to a rank's only model thread.
 */
final class ElasticExchange extends OwnCopyExchange {

  private static final Logger LOG = LoggerFactory.getLogger(ElasticExchange.class);

  private final TrainerSession session;
  private final ElasticRank rank;
  private final RankSteps steps;
  private final BucketPlan plan;
  private final int numel;
  private final ElasticHeader header;
  private final UnusedVariables unused;
  private final double fullBatch;
  private final BucketSums sums;
  private TensorMemory memory;
  private FloatBuffer floats;
  /** This rank's gradients of the step, times their weight. */
  private final FloatBuffer kept;
  private BitSet fresh = new BitSet();
  private double weight;
  /** The buckets of a step have been sent as backward yielded them. */
  private boolean sent;

  ElasticExchange(ReplicaContext replica, ElasticRank rank, ParameterClient client, WireType wire, StepTimes times) {
    super(replica, client, times);
    session = replica.session();
    this.rank = rank;
    steps = replica.group().steps();
    List<DenseVariable> variables = client.job().model().dense();
    CollectiveConfig config = session.job().collective();
    plan = BucketPlan.of(variables, config.bucketBytes(), config.lastBucketBytes());
    numel = client.job().model().denseNumel();
    int maxRanks = session.job().trainers();
    header = new ElasticHeader(numel, maxRanks, variables.size());
    unused = new UnusedVariables("trainer of job " + session.job().job(), variables);
    fullBatch = session.job().batchSize();
    CountedRanks counted = new CountedRanks(rank.peers(), maxRanks);
    sums = new BucketSums(session, counted, new WholeSum(counted, maxRanks, wire), numel, times);
    kept = direct(numel).asFloatBuffer();
  }

  private static ByteBuffer direct(int floats) {
    return ByteBuffer.allocateDirect(Math.multiplyExact(floats, Float.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
  }

  BucketPlan plan() {
    return plan;
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
      @Override
      public void begins(TensorMemory flat, BitSet its) {
        memory = flat;
        fresh = its;
        weight = examples / fullBatch;
        unused.own(its, steps.made());
        says(true, true);
        sent = true;
      }

      @Override
      public void has(int variable) {
        Bucket full = plan.fullWith(variable);
        if (full != null) {
          Scaling.scale(floats, full.from(), full.to(), weight);
          kept.put(full.from(), floats, full.from(), full.to() - full.from());
          send(full);
        }
      }
    };
  }

  /**
   * Writes what this rank says of the step, in which it has gradients or not.
   *
   * @param trains whether it has trained the batch that it was dealt
   */
  private void says(boolean stepping, boolean trains) {
    sums.begins(memory, steps.made(), stepping ? weight : 0);
    floats = sums.floats();
    header.clear(floats);
    if (stepping) {
      header.steps(floats, weight, fresh);
    }
    if (trains) {
      header.trains(floats, rank.peers().rank());
    }
    if (rank.peers().newcomers()) {
      header.newcomers(floats);
    }
    if (rank.passes().next().isEmpty()) {
      header.finished(floats);
    }
  }

  /** The first bucket reaches to the end of the vector, behind which the header lies. */
  private void send(Bucket bucket) {
    boolean first = bucket == plan.buckets().get(0);
    sums.send("step " + steps.made() + ", bucket " + plan.buckets().indexOf(bucket), bucket.from(),
        first ? numel + floatsBehind() : bucket.to());
  }

  /** The values of the next step; the same bits on all ranks. */
  @Override
  public DenseMemory step(Gradients mine, List<SparseIds> next) {
    stepBegins();
    Together step = new Together(true, true, false);
    rank.perform(step);
    step.letIn();
    return step.values;
  }

  /** Takes part in one step of the others, if they make one, without examples. */
  void join() {
    join(false, false);
  }

  /** The same, where this rank's next batch has turned out to have no example that can be trained. */
  void joinForAnEmptyBatch() {
    join(true, false);
  }

  /**
   * Takes part in the others' steps of the pass until nobody makes any; this rank's program trains no more of the pass: it has seen
   * its end, or left it for the next one, or for its own end.
   */
  void joinToTheEnd() {
    if (!rank.passes().next().isEmpty()) {
      LOG.info("trainer {} of job {} trains no more of a pass of which {} examples are left, by max_steps or its program",
          rank.peers().rank(), session.job().job(), rank.passes().left());
    }
    while (rank.passes().isUnderWay()) {
      join(false, true);
    }
  }

  private void join(boolean trains, boolean gone) {
    if (memory == null) {
      memory = memory(Math.multiplyExact(numel + floatsBehind(), Float.BYTES));
    }
    Together join = new Together(false, trains, gone);
    rank.perform(join);
    if (join.values != null) {
      othersStep(join.values);
    }
    join.letIn();
  }

  /** One step of all ranks, in which this one has examples or not. */
  private final class Together implements Operation {
    private final boolean steps;
    private final boolean trains;
    /** Whether this rank will train nothing of the pass any more, whatever it is dealt. */
    private final boolean gone;
    private boolean elsewhere;
    private boolean newcomers;
    /** Null if nobody has stepped. */
    private DenseMemory values;

    Together(boolean steps, boolean trains, boolean gone) {
      this.steps = steps;
      this.trains = trains;
      this.gone = gone;
    }

    @Override
    public String name() {
      return "step " + ElasticExchange.this.steps.made();
    }

    @Override
    public boolean holdsBatch() {
      return trains;
    }

    @Override
    public Result attempt() {
      try {
        if (steps && !sent) {
          floats.put(0, kept, 0, numel);
          says(true, true);
          plan.buckets().forEach(ElasticExchange.this::send);
        }
        sent = false;
        exchange();
      } catch (PeerLost e) {
        sums.drain(); // what is under way still uses the memory
        throw e;
      }
      return Result.NONE;
    }

    private void exchange() {
      Bucket first = plan.buckets().get(0);
      List<Bucket> others = plan.buckets().subList(1, plan.buckets().size());
      if (!steps) {
        says(false, trains);
        if (gone) {
          header.finished(floats);
        }
        Scaling.scale(floats, first.from(), first.to(), 0);
        send(first);
      }
      sums.awaitNext();
      double stepping = header.stepping(floats);
      double weights = header.weight(floats);
      BitSet trained = header.trained(floats);
      newcomers = header.anyNewcomers(floats);
      boolean over = trained.isEmpty() && header.allFinished(floats, rank.peers().worldSize());
      if (stepping > 0) {
        unused.all(floats, header.counts(), stepping, ElasticExchange.this.steps.made());
        if (!steps) {
          Scaling.scale(floats, 0, first.from(), 0);
          others.forEach(ElasticExchange.this::send);
        }
        others.forEach(bucket -> sums.awaitNext());
        update(weights);
      }
      rank.passes().trained(trained);
      if (over) {
        rank.passes().end();
      }
    }

    private void update(double weights) {
      DenseMemory mean = sums.mean(DenseMemory.of(memory.floats(0, numel)), weights);
      if (steps) {
        sums.stepped();
      }
      values = ElasticExchange.this.update(weights * fullBatch, mean);
    }

    @Override
    public void completed(Result result) {
      elsewhere = true;
      values = values();
    }

    /** Between this step and the next. Who was behind in this one has been through it already. */
    void letIn() {
      if (newcomers && !elsewhere) {
        rank.reform("there are newcomers");
      }
    }
  }

  @Override
  public void average(float[] values) {
    rank.calls().mean("mean of what is not trained, over the trainers", values);
  }

  @Override
  public Map<String, Double> figures() {
    return sums.figures();
  }
}
