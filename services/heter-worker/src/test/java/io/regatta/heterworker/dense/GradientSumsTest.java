package io.regatta.heterworker.dense;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.offset;

import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.core.testing.VirtualTime;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Rounds of several heter workers in virtual time. What the pushes of a step carry has the mean of the trainers'
 * gradients, weighted as a server weighs them.
 */
class GradientSumsTest {
  private static final int SIZE = 5;
  private static final int STEPS = 12;
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final float PRECISION = 1e-5f;

  /** The calls of all workers: each completes when all have made it. */
  private static final class Bus {
    final int workers;
    final Map<Integer, List<float[]>> values = new HashMap<>();
    final Map<Integer, List<Promise<Void>>> waiting = new HashMap<>();
    PeerLost lost;

    Bus(int workers) {
      this.workers = workers;
    }

    GradientSums.AllReduce ofWorker() {
      int[] calls = {0};
      return own -> call(calls[0]++, own);
    }

    private Future<Void> call(int number, float[] own) {
      if (lost != null) {
        return Future.failedFuture(lost);
      }
      Promise<Void> promise = Promise.promise();
      List<float[]> all = values.computeIfAbsent(number, n -> new ArrayList<>());
      all.add(own);
      waiting.computeIfAbsent(number, n -> new ArrayList<>()).add(promise);
      if (all.size() == workers) {
        float[] sum = new float[own.length];
        for (float[] one : all) {
          assertThat(one).as("call %d", number).hasSameSizeAs(sum);
          for (int i = 0; i < sum.length; i++) {
            sum[i] += one[i];
          }
        }
        all.forEach(to -> System.arraycopy(sum, 0, to, 0, sum.length));
        values.remove(number);
        waiting.remove(number).forEach(Promise::complete);
      }
      return promise.future();
    }

    void lose(PeerLost why) {
      lost = why;
      List.copyOf(waiting.values()).forEach(promises -> promises.forEach(promise -> promise.tryFail(why)));
    }
  }

  private static float[] gradient(int rank, long step) {
    Random of = new Random(101 * step + rank);
    float[] gradient = new float[SIZE];
    for (int i = 0; i < SIZE; i++) {
      gradient[i] = (float) of.nextGaussian();
    }
    return gradient;
  }

  private static double weight(int rank, long step) {
    return (rank + step) % 4 == 3 ? 0 : 10 + rank;
  }

  /** Trainers that make their steps together, as a server's rounds let them. */
  private static final class Job {
    final VirtualTime time;
    final Random random;
    final List<GradientSums> sums = new ArrayList<>();
    final Bus bus;
    final int trainers;
    long step;

    Job(long seed, int workers, int trainers) {
      time = new VirtualTime(seed);
      random = new Random(seed);
      bus = new Bus(workers);
      this.trainers = trainers;
      for (int i = 0; i < workers; i++) {
        Loop loop = time.loop("worker " + i);
        GradientSums one = new GradientSums("sums", trainers, loop);
        sums.add(one);
        loop.after(1 + random.nextInt(40), () -> one.meet(SIZE, bus.ofWorker()));
      }
      for (int rank = 0; rank < trainers; rank++) {
        of(rank).enter(new TrainerId(rank, 1));
      }
    }

    GradientSums of(int rank) {
      return sums.get(rank % sums.size());
    }

    /** Makes one step with these ranks, and returns the mean of their pushes as a server computes it. */
    float[] step(Set<Integer> ranks) {
      Map<Integer, CompletableFuture<float[]>> carried = new HashMap<>();
      Loop loop = time.loop("trainers");
      long of = step++;
      for (int rank : ranks) {
        double weight = weight(rank, of);
        loop.after(1 + random.nextInt(80), () -> carried.put(rank, of(rank).add(new TrainerId(rank, 1), of, weight,
            weight == 0 ? null : gradient(rank, of))));
      }
      time.runUntil(() -> carried.size() == ranks.size() && carried.values().stream()
          .allMatch(CompletableFuture::isDone), LIMIT);
      float[] mean = new float[SIZE];
      double total = ranks.stream().mapToDouble(rank -> weight(rank, of)).sum();
      carried.forEach((rank, push) -> {
        float[] values = push.join();
        for (int i = 0; i < SIZE && values != null && total > 0; i++) {
          mean[i] += (float) (weight(rank, of) / total) * values[i];
        }
      });
      return mean;
    }

    float[] expected(Set<Integer> ranks, long of) {
      float[] mean = new float[SIZE];
      double total = ranks.stream().mapToDouble(rank -> weight(rank, of)).sum();
      for (int rank : ranks) {
        float[] gradient = gradient(rank, of);
        for (int i = 0; i < SIZE && total > 0; i++) {
          mean[i] += (float) (weight(rank, of) / total * gradient[i]);
        }
      }
      return mean;
    }
  }

  /** Trainers come, pause and go between two steps, as around a barrier. */
  @Test
  void theMeanOfAStepIsThatOfItsTrainers_whoeverPauses() {
    for (long seed = 0; seed < 200; seed++) {
      Job job = new Job(seed, 1 + (int) (seed % 3), 1 + (int) (seed % 5));
      Set<Integer> ranks = new HashSet<>();
      for (int rank = 0; rank < job.trainers; rank++) {
        ranks.add(rank);
      }
      for (long step = 0; step < STEPS; step++) {
        assertThat(job.step(ranks)).as("seed %d, step %d", seed, step).containsExactly(job.expected(ranks, step),
            offset(PRECISION));
        for (int rank = 0; rank < job.trainers; rank++) {
          if (job.random.nextInt(4) == 0 && ranks.remove(rank)) {
            job.of(rank).leave(new TrainerId(rank, 1));
          } else if (job.random.nextInt(3) == 0) {
            ranks.add(rank);
          }
        }
        if (ranks.isEmpty()) {
          ranks.add(0);
        }
      }
    }
  }

  @Test
  void theOnlyGradientKeepsItsBits() {
    Job job = new Job(3, 2, 1);
    assertThat(job.step(Set.of(0))).isEqualTo(gradient(0, 0));
  }

  @Test
  void failsAllPushes_whenAHeterWorkerIsLost() {
    Job job = new Job(5, 2, 2);
    job.step(Set.of(0, 1));
    CompletableFuture<float[]> waits = job.of(0).add(new TrainerId(0, 1), 1, 10, gradient(0, 1));
    job.time.advance(Duration.ofMillis(10));
    job.bus.lose(new PeerLost("rank 1 is lost"));
    job.time.settle();
    for (CompletableFuture<float[]> push : List.of(waits, job.of(0).add(new TrainerId(0, 1), 2, 10, gradient(0, 2)))) {
      assertThatThrownBy(push::join).hasCauseInstanceOf(Indeterminate.class)
          .hasMessageContaining("the heter workers of job sums "
          + "cannot add up their gradients after step 0: rank 1 is lost; start the job again from its last snapshot");
    }
  }
}
