package io.regatta.training.exchange.localsgd;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.collective.compress.LocalSteps;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.optim.LearningRate;
import io.regatta.training.exchange.collective.CountedRanks;
import io.regatta.training.exchange.push.PushPullExchange;
import io.regatta.training.replica.Exchange;
import io.regatta.training.replica.Gradients;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.StepTimes;
import io.regatta.training.session.PeerRanks;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.strategy.sync.Sync;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleConsumer;

/**
 * The exchange of LocalSGD in collective mode. A rank makes its steps alone, on its own copy of the parameters. At
 * intervals ({@link LocalSteps}) the ranks set the parameters of all to their mean, weighted by the examples trained
 * since the last time. The ranks send the difference from the last mean; all add the same sum to the same values, so
 * they have the same bits. The optimizer's state (its velocity) stays each rank's own, as PaddlePaddle's does. Belongs
 * to a rank's only model thread.
 *
 * <p>An averaging is two calls: a header with the ranks that still train and the weights, and the differences, if any
 * rank has trained. A rank outside of steps (out of data, in a barrier or at its end) takes part with its last
 * differences, then with zeros, until no rank trains ({@link #join}). Then all have the same parameters. It counts the
 * steps of the others as its own, without gradients, so that all have the same learning rate.
 */
public final class LocalSgdExchange implements Exchange {

  /** Indices in a rank's row of the header. */
  private static final int TRAINING = 0;
  private static final int WEIGHT = 1;
  private static final int STEPS = 2;
  private static final int LOSS = 3;
  private static final int K_STEPS = 4;
  private static final int HEADER = 5;

  private final TrainerSession session;
  private final PeerRanks peers;
  private final CountedRanks counted;
  private final PushPullExchange own;
  private final RankSteps steps;
  private final StepTimes times;
  private final LocalSteps localSteps;
  private final LearningRate rate;
  private final double fullBatch;
  private final int rank;
  private final int worldSize;
  private final ByteBuffer difference;
  /** The last mean. */
  private final float[] mean;
  private final float[] scratch;
  /** Steps since the last mean, and their weight. */
  private long local;
  private double weight;
  /** Loss of the last batch, if the rule needs it. */
  private double loss;
  private DenseMemory values;
  /** Values after {@link #join} since the last step of this rank; null if there were none. */
  private DenseMemory newer;
  /** Steps of this rank, averagings, and their time, for the metrics. */
  private long made;
  private long averagings;
  private long nanos;

  public LocalSgdExchange(ReplicaContext replica, ParameterClient client, LocalSteps localSteps, StepTimes times) {
    session = replica.session();
    peers = session.ranks().orElseThrow().peers();
    rank = session.trainer().rank();
    worldSize = session.worldSize();
    counted = new CountedRanks(peers, worldSize, session.job().aggregator());
    own = new PushPullExchange(replica, client, new Sync(), times);
    steps = replica.group().steps();
    this.times = times;
    this.localSteps = localSteps;
    rate = client.job().model().denseOptimizer().learningRate();
    fullBatch = session.job().batchSize();
    int numel = client.job().model().denseNumel();
    difference = ByteBuffer.allocateDirect(Math.multiplyExact(numel, Float.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
    mean = new float[numel];
    scratch = new float[numel];
  }

  @Override
  public DenseMemory start() {
    values = own.start();
    read(values, mean);
    return values;
  }

  private static void read(DenseMemory from, float[] to) {
    from.direct(0, to.length).asFloatBuffer().get(0, to);
  }

  @Override
  public DoubleConsumer losses() {
    return localSteps.isAdaptive() ? of -> loss = of : null;
  }

  /** Returns the values of the next step: this rank's own, or the ranks' mean. */
  @Override
  public DenseMemory step(Gradients mine, List<SparseIds> next) {
    newer = null;
    values = own.step(mine, List.of());
    made++;
    local++;
    weight += mine.examples() / fullBatch;
    if (localSteps.isDue(steps.made(), local) || session.job().snapshots().isDue(steps.made())) {
      averageParameters(true);
    }
    return values;
  }

  /** Takes part in the averagings of the others until no rank trains. */
  public void join() {
    while (averageParameters(false)) {
      newer = values;
    }
    newer = values;
  }

  /**
   * Averages the parameters of all ranks.
   *
   * @param training true if this rank continues with steps of its own
   * @return true if any rank does
   */
  private boolean averageParameters(boolean training) {
    long[] rows = exchangeRows(training ? 1 : 0, weight, steps.made(), training ? loss : 0, localSteps.kSteps());
    double trainers = 0;
    double weights = 0;
    double losses = 0;
    long furthest = 0;
    for (int r = 0; r < worldSize; r++) { // in rank order, so that all ranks have the same bits
      trainers += value(rows, r, TRAINING);
      weights += value(rows, r, WEIGHT);
      losses += value(rows, r, LOSS);
      furthest = Math.max(furthest, (long) value(rows, r, STEPS));
      refuseOther(r, (int) value(rows, r, K_STEPS));
    }
    steps.trainedByAll(Math.round(weights * fullBatch));
    if (weights > 0) {
      add(weight / weights);
    }
    while (steps.made() < furthest) {
      values = own.step(new Gradients(0, null, List.of()), List.of());
    }
    if (trainers > 0) {
      localSteps.averaged(losses / trainers, rate.at(Math.max(0, steps.made() - 1)));
    }
    local = 0;
    weight = 0;
    return trainers > 0;
  }

  /** Exchanges the ranks' rows. */
  private long[] exchangeRows(double... mine) {
    long[] all = new long[HEADER * worldSize];
    for (int place = 0; place < HEADER; place++) {
      all[HEADER * rank + place] = Double.doubleToRawLongBits(mine[place]);
    }
    await("header of the mean of parameters after step " + steps.made(), counted.gather(all));
    return all;
  }

  private static double value(long[] rows, int ofRank, int place) {
    return Double.longBitsToDouble(rows[HEADER * ofRank + place]);
  }

  private void refuseOther(int other, int kSteps) {
    if (kSteps != localSteps.kSteps()) {
      throw new InvalidInput("job " + session.job().job() + ": trainer " + rank + " averages every " + localSteps.kSteps()
          + " steps, trainer " + other + " every " + kSteps + "; start all with the same program and job");
    }
  }

  /** Adds the ranks' differences to the last mean. */
  private void add(double share) {
    read(values, scratch);
    averagings++;
    float factor = (float) share;
    for (int i = 0; i < mean.length; i++) {
      scratch[i] = factor == 0 ? 0 : factor * (scratch[i] - mean[i]);
    }
    FloatBuffer floats = difference.asFloatBuffer();
    floats.put(0, scratch);
    await("mean of parameters after step " + steps.made(), counted.sum(difference));
    floats.get(0, scratch);
    for (int i = 0; i < mean.length; i++) {
      mean[i] += scratch[i];
    }
    session.assign(DenseMemory.of(mean));
    values = own.newest();
  }

  private void await(String operation, CompletableFuture<Void> sum) {
    long begin = session.clock().nanos();
    session.await(operation, sum);
    long waited = session.clock().nanos() - begin;
    nanos += waited;
    times.add(StepTimes.Part.PULL, waited);
    times.span("wait: " + operation, begin);
  }

  @Override
  public boolean averages() {
    return true;
  }

  @Override
  public void average(float[] frozen) {
    session.ranks().orElseThrow().calls().averageFrozen(frozen);
  }

  @Override
  public DenseMemory resumed() {
    DenseMemory joined = newer;
    newer = null;
    return joined;
  }

  @Override
  public DenseMemory newest() {
    newer = null;
    values = own.newest();
    return values;
  }

  /**
   * Returns {@code exchanges_per_step}, averagings per step of this rank; {@code exchange_bytes_per_step} that it sends
   * ({@link CountedRanks}); {@code exchange_ms} per step, during all of which it waits; {@code local_steps} between two
   * averagings now.
   */
  @Override
  public Map<String, Double> figures() {
    return made == 0 ? Map.of() : Map.of("exchanges_per_step", (double) averagings / made,
        "exchange_bytes_per_step", counted.bytes() / made, "exchange_ms", nanos / 1e6 / made,
        "local_steps", (double) localSteps.kSteps());
  }
}
