package io.regatta.heterworker.dense;

import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.vertx.core.Future;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The rounds in which the heter workers of a job add up the part's gradients. In each round a worker waits for the
 * trainers whose pushes go through it. All workers all-reduce the weights, and then the weighted mean. One push carries
 * the mean to the servers: that of the lowest rank that has a weight. It is scaled so that the servers' mean over the
 * pushes of the step is this mean. A gradient that comes after the round of its step goes with its own push, which is
 * correct, too. Owned by the loop of the streams.
 *
 * <p>A worker without trainers takes part in the rounds of the others. While no worker has any, it asks again after
 * {@value #IDLE_MILLIS} ms.
 *
 * <p>A round cannot be made again without a worker: a push may have carried its sum already. So after the loss of one
 * all pushes fail.
 */
public final class GradientSums {

  /** An all-reduce by addition over the heter workers; each array then has the sum. */
  public interface AllReduce extends Function<float[], Future<Void>> {}

  private static final long IDLE_MILLIS = 50;
  private static final int STEP = 1;
  private static final int STEP_HIGH = 2;
  private static final int WEIGHTS = 3;
  /** Steps are sent as two floats of this base: they and their sums are exact. */
  private static final int BASE = 1 << 12;

  /**
   * The gradient of one trainer's step.
   *
   * @param gradient elements of the part; null: zeros
   * @param carried completes with what the trainer's push carries; null: nothing
   */
  private record Given(long step, double weight, float[] gradient, CompletableFuture<float[]> carried) {}

  private final String job;
  private final int trainers;
  private final Loop loop;
  private final Set<TrainerId> active = new HashSet<>();
  /** Gradients for the next round, by trainer in the order of ranks. */
  private Map<TrainerId, Given> given = empty();
  /** Step of the last round that has any gradients. */
  private long summed = -1;
  private int size;
  /** Null until the heter workers have met. */
  private AllReduce group;
  private boolean underWay;
  private Timer idle = Timer.NONE;
  private boolean isIdle;
  private Indeterminate broken;

  /**
   * Creates rounds that wait for {@link #meet}.
   *
   * @param trainers of the job
   */
  public GradientSums(String job, int trainers, Loop loop) {
    this.job = job;
    this.trainers = trainers;
    this.loop = loop;
  }

  private static Map<TrainerId, Given> empty() {
    return new TreeMap<>(Comparator.comparingInt(TrainerId::rank).thenComparingLong(TrainerId::incarnation));
  }

  /**
   * Begins the rounds, once the heter workers have met.
   *
   * @param elements of the part
   */
  public void meet(int elements, AllReduce all) {
    size = elements;
    group = all;
    proceed();
  }

  /** Fails all pushes from now on. */
  public void fail(Throwable why) {
    if (broken == null) {
      idle.cancel();
      broken = new Indeterminate("the heter workers of job " + job + " cannot add up their gradients after step "
          + summed + ": "
          + why.getMessage() + "; start the job again from its last snapshot", why);
      List.copyOf(given.values()).forEach(of -> of.carried().completeExceptionally(broken));
      given.clear();
    }
  }

  /** Waits for this trainer's gradients from now on. */
  void enter(TrainerId trainer) {
    active.add(trainer);
  }

  /** Waits for this trainer's gradients no more. */
  void leave(TrainerId trainer) {
    if (active.remove(trainer)) {
      proceed();
    }
  }

  /**
   * Takes the gradient of a trainer's step.
   *
   * @param gradient elements of the part, clipped; null: zeros
   * @return what the trainer's push carries, elements of the part; null: nothing
   */
  CompletableFuture<float[]> add(TrainerId trainer, long step, double weight, float[] gradient) {
    if (broken != null) {
      return CompletableFuture.failedFuture(broken);
    }
    active.add(trainer); // again, after it sat out
    if (step <= summed) {
      return CompletableFuture.completedFuture(gradient);
    }
    Given of = new Given(step, weight, gradient, new CompletableFuture<>());
    given.put(trainer, of);
    proceed();
    return of.carried();
  }

  /** Begins a round if all gradients are here. */
  private void proceed() {
    if (group == null || underWay || broken != null || !given.keySet().containsAll(active) || given.isEmpty()
        && isIdle) {
      return;
    }
    underWay = true;
    idle.cancel();
    isIdle = false;
    Map<TrainerId, Given> round = given;
    given = empty();
    float[] header = new float[WEIGHTS + trainers];
    round.forEach((trainer, of) -> {
      header[0]++;
      header[STEP] += of.step() % BASE;
      header[STEP_HIGH] += of.step() / BASE;
      header[WEIGHTS + trainer.rank()] = (float) of.weight();
    });
    reduce(header, round, () -> weighed(round, header));
  }

  /** Adds up over the workers; a failure is one of the round. */
  private void reduce(float[] values, Map<TrainerId, Given> round, Runnable then) {
    Future<Void> sum;
    try {
      sum = group.apply(values);
    } catch (RuntimeException e) {
      sum = Future.failedFuture(e);
    }
    sum.onComplete(done -> {
      if (done.succeeded()) {
        then.run();
      } else {
        fail(done.cause());
        round.values().forEach(of -> of.carried().completeExceptionally(broken));
      }
    });
  }

  private void weighed(Map<TrainerId, Given> round, float[] header) {
    if (header[0] == 0) {
      underWay = false;
      isIdle = true;
      idle = loop.after(IDLE_MILLIS, () -> {
        isIdle = false;
        proceed();
      });
      proceed();
      return;
    }
    long step = Math.round(header[STEP] / header[0]) + BASE * (long) Math.round(header[STEP_HIGH] / header[0]);
    double total = 0;
    int carrier = -1;
    int weighty = 0;
    for (int rank = trainers - 1; rank >= 0; rank--) {
      float weight = header[WEIGHTS + rank];
      total += weight;
      carrier = weight > 0 ? rank : carrier;
      weighty += weight > 0 ? 1 : 0;
    }
    if (weighty <= 1) { // its gradient is the mean
      summed(round, step, carrier, null);
      return;
    }
    double weights = total;
    int by = carrier;
    float[] mean = new float[size];
    round.values().forEach(of -> add(mean, of.gradient(), (float) (of.weight() / weights)));
    reduce(mean, round, () -> {
      float factor = (float) (weights / header[WEIGHTS + by]);
      for (int i = 0; i < size; i++) {
        mean[i] *= factor;
      }
      summed(round, step, by, mean);
    });
  }

  private static void add(float[] sum, float[] gradient, float factor) {
    if (gradient == null || factor == 0) {
      return;
    }
    for (int i = 0; i < sum.length; i++) {
      sum[i] += factor * gradient[i];
    }
  }

  /** Ends a round: the push of one rank carries the sum; null: its own gradient. */
  private void summed(Map<TrainerId, Given> round, long step, int carrier, float[] sum) {
    summed = step;
    underWay = false;
    round.forEach((trainer, of) -> of.carried().complete(
        trainer.rank() != carrier ? null : sum == null ? of.gradient() : sum));
    List.copyOf(given.entrySet()).stream().filter(late -> late.getValue().step() <= step).forEach(late -> {
      given.remove(late.getKey());
      late.getValue().carried().complete(late.getValue().gradient());
    });
    proceed();
  }

  /** Ends the rounds. */
  public void close() {
    idle.cancel();
    group = null;
  }
}
