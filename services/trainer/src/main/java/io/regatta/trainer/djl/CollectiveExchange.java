package io.regatta.trainer.djl;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.collective.BucketPlan;
import io.regatta.core.collective.BucketPlan.Bucket;
import io.regatta.core.collective.TensorMemory;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.trainer.config.CollectiveConfig;
import io.regatta.trainer.config.Communication;
import io.regatta.trainer.config.DgcConfigs;
import io.regatta.trainer.session.PeerRanks;
import io.regatta.trainer.session.TrainerSession;
import java.nio.FloatBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

/**
 * Collective mode: the ranks sum their gradients, weighted by examples, bucket by bucket ({@link BucketPlan}), each as soon as backward
 * has yielded it; then every rank makes the same update of its own copy, which {@code OwnShards} hold, so all have the same bits.
 *
 * <p>Behind the gradients, and so with the first bucket (or on its own, see {@link GradientSum}), travels the step's header: how
 * many ranks step, their weights, and for each variable how many ranks have a gradient of it. A variable that a rank has none of counts there with zeros, as it would
 * in one process; who has none at all is named in the log. A rank that is outside of steps (it has run out of data, and waits for the
 * others in a barrier or at its end) takes part with nothing ({@link #join}) until a header says that nobody steps.
 * Belongs to a rank's only model thread.
 */
final class CollectiveExchange extends OwnCopyExchange {

  /** Places in the header; the variables' counts follow. */
  private static final int STEPPING = 0;
  private static final int WEIGHT = 1;
  private static final int VARIABLES = 2;

  private final TrainerSession session;
  private final PeerRanks peers;
  private final RankSteps steps;
  private final StepTimes times;
  private final BucketPlan plan;
  private final int numel;
  private final UnusedVariables unused;
  /** A full batch weighs 1, so that it need not be scaled before the sum. */
  private final double fullBatch;
  private final GradientSum sum;
  private final BucketSums sums;
  private Runnable joined = () -> { };

  /** @param optimizer the job's, of which what {@code communication} leaves to it is the client's */
  CollectiveExchange(ReplicaContext replica, ParameterClient client, Communication communication, OptimizerSpec optimizer,
      StepTimes times) {
    super(replica, client, times);
    session = replica.session();
    peers = session.peers().orElseThrow();
    steps = replica.group().steps();
    this.times = times;
    List<DenseVariable> variables = client.job().model().dense();
    CollectiveConfig config = session.job().collective();
    plan = BucketPlan.of(variables, config.bucketBytes(), config.lastBucketBytes());
    numel = client.job().model().denseNumel();
    unused = new UnusedVariables("trainer " + session.trainer().rank() + " of job " + session.job().job(), variables);
    fullBatch = session.job().batchSize();
    CountedRanks counted = new CountedRanks(peers, session.worldSize(), session.job().aggregator());
    sum = communication instanceof DgcConfigs dgc
        ? new LargestSum(counted, session.trainer().rank(), session.worldSize(), variables, dgc.toSpec(), optimizer)
        : new WholeSum(counted, session.worldSize(), ((Communication.AllReduce) communication).wire());
    sums = new BucketSums(session, counted, sum, numel, times);
  }

  BucketPlan plan() {
    return plan;
  }

  @Override
  public DenseMemory start() {
    DenseMemory values = super.start();
    sum.starts(values);
    return values;
  }

  @Override
  public Map<String, float[]> kept() {
    return sum.kept();
  }

  @Override
  public int floatsBehind() {
    return VARIABLES + unused.variables();
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
      public void begins(TensorMemory flat, BitSet fresh) {
        floats = header(flat, 1, examples / fullBatch, fresh);
      }

      @Override
      public void has(int variable) {
        Bucket full = plan.fullWith(variable);
        if (full != null) {
          Scaling.scale(floats, full.from(), full.to(), examples / fullBatch);
          send(full);
        }
      }
    };
  }

  /** Writes what this rank says of the step. */
  private FloatBuffer header(TensorMemory flat, int stepping, double weight, BitSet fresh) {
    sums.begins(flat, steps.made(), weight);
    FloatBuffer floats = sums.floats();
    floats.put(numel + STEPPING, stepping);
    floats.put(numel + WEIGHT, (float) weight);
    for (int v = 0; v < unused.variables(); v++) {
      floats.put(numel + VARIABLES + v, fresh.get(v) ? 1 : 0);
    }
    unused.own(fresh, steps.made());
    return floats;
  }

  /** The first bucket reaches to the end of the vector, behind which the header lies. */
  private void send(Bucket bucket) {
    send(bucket, bucket == plan.buckets().get(0) ? numel + floatsBehind() : bucket.to());
  }

  private void sendGradients(Bucket bucket) {
    send(bucket, bucket.to());
  }

  private void send(Bucket bucket, int to) {
    sums.send("step " + steps.made() + ", bucket " + plan.buckets().indexOf(bucket), bucket.from(), to);
  }

  /** The values of the next step; the same bits on all ranks. */
  @Override
  public DenseMemory step(Gradients mine, List<SparseIds> next) {
    stepBegins();
    FloatBuffer floats = sums.floats();
    double weight = 0;
    for (Bucket bucket : plan.buckets()) {
      sums.awaitNext();
      if (bucket == plan.buckets().get(0)) {
        weight = floats.get(numel + WEIGHT);
        unused.all(floats, numel + VARIABLES, floats.get(numel + STEPPING), steps.made());
      }
    }
    sums.stepped();
    return update(weight * fullBatch, sums.mean(mine.dense(), weight));
  }

  /** Takes part in the steps of the others without examples, and makes their updates, until none steps. */
  void join() {
    TensorMemory memory = sums.memory() != null ? sums.memory() : memory(Math.multiplyExact(numel + floatsBehind(), Float.BYTES));
    Bucket first = plan.buckets().get(0);
    boolean asksFirst = sums.sendsHeaderApart(first.from());
    while (true) {
      FloatBuffer floats = header(memory, 0, 0, new BitSet());
      if (asksFirst) {
        sums.sendHeader("step " + steps.made() + ", header", numel + floatsBehind());
      } else {
        Scaling.scale(floats, first.from(), first.to(), 0);
        send(first);
      }
      sums.awaitNext();
      double stepping = floats.get(numel + STEPPING);
      double weight = floats.get(numel + WEIGHT);
      if (stepping == 0) {
        return;
      }
      Scaling.scale(floats, 0, asksFirst ? numel : first.from(), 0);
      List<Bucket> missing = plan.buckets().subList(asksFirst ? 0 : 1, plan.buckets().size());
      missing.forEach(this::sendGradients);
      missing.forEach(bucket -> sums.awaitNext());
      othersStep(update(weight * fullBatch, sums.mean(DenseMemory.of(memory.floats(0, numel)), weight)));
      joined.run();
    }
  }

  @Override
  public void onJoined(Runnable told) {
    joined = told;
  }

  @Override
  public void average(float[] values) {
    RankMean.average(session, peers, values);
  }

  @Override
  public Map<String, Double> figures() {
    return sums.figures();
  }
}
