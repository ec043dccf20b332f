package io.regatta.heterworker.dense;

import io.regatta.core.dense.DenseMemory;
import io.regatta.training.replica.Gradients;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The gradients of one trainer's batches that no push has taken. A batch that is computed again replaces its gradient.
 * The model thread adds, the loop takes.
 */
final class KeptGradients {

  /**
   * The gradient of one batch.
   *
   * @param step local step of the replica
   * @param bad place of the first NaN or infinity, in words; null: there is none
   * @param memory of the gradient, to be used again; null: it has another owner
   */
  record BatchGradient(int replica, long step, double examples, DenseMemory gradient, String bad, ByteBuffer memory) {}

  private record Key(int replica, long step) implements Comparable<Key> {

    private static final Comparator<Key> ORDER = Comparator.comparingInt(Key::replica).thenComparingLong(Key::step);

    @Override
    public int compareTo(Key other) {
      return ORDER.compare(this, other);
    }
  }

  private final ConcurrentSkipListMap<Key, BatchGradient> kept = new ConcurrentSkipListMap<>();

  /** Adds the gradient of a batch; returns the one that it replaces, since the batch has been computed again. */
  Optional<BatchGradient> add(BatchGradient gradient) {
    return Optional.ofNullable(kept.put(new Key(gradient.replica(), gradient.step()), gradient));
  }

  /**
   * Takes the gradients of steps that have been made, ordered by replica and step.
   *
   * @param steps made by each replica
   */
  List<BatchGradient> take(List<Long> steps) {
    List<BatchGradient> taken = new ArrayList<>();
    kept.forEach((key, of) -> {
      if (key.replica() >= steps.size() || key.step() < steps.get(key.replica())) {
        kept.remove(key, of);
        taken.add(of);
      }
    });
    return taken;
  }

  /**
   * Returns the gradient of one push: the sum over the steps of each replica, and the mean over replicas, weighted by
   * examples.
   *
   * @param of ordered by replica and step, at least one; they may be changed
   */
  static DenseMemory merged(List<BatchGradient> of) {
    List<Gradients> replicas = new ArrayList<>();
    int first = 0;
    for (int i = 1; i <= of.size(); i++) {
      if (i == of.size() || of.get(i).replica() != of.get(first).replica()) {
        List<BatchGradient> steps = of.subList(first, i);
        replicas.add(new Gradients(steps.stream().mapToDouble(BatchGradient::examples).sum(), sum(steps), List.of()));
        first = i;
      }
    }
    return Gradients.merge(replicas).dense();
  }

  private static DenseMemory sum(List<BatchGradient> steps) {
    DenseMemory first = steps.get(0).gradient();
    if (steps.size() == 1) {
      return first;
    }
    float[] sum = first.toArray();
    for (BatchGradient next : steps.subList(1, steps.size())) {
      float[] other = next.gradient().toArray();
      for (int i = 0; i < sum.length; i++) {
        sum[i] += other[i];
      }
    }
    return DenseMemory.of(sum);
  }
}
