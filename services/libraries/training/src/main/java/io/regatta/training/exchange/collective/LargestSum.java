package io.regatta.training.exchange.collective;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.core.collective.compress.GradientCompressor;
import io.regatta.core.collective.compress.SparsePairs;
import io.regatta.core.collective.compress.Sparsity;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.dense.NonFinite;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.optim.GradientClipping;
import io.regatta.core.optim.Momentum;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Sgd;
import io.regatta.training.session.PeerRanks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Deep gradient compression: the elements of each variable with the largest accumulated values
 * ({@link GradientCompressor}), gathered as pairs of index and value, and added in rank order. Clipping by norm (to
 * N^-1/2 of the limit) and L2 decay are applied before a gradient is accumulated, as in the paper. The sent values
 * include momentum, so the update after it is {@link #update} of the job's optimizer. A rank that takes part without
 * gradients keeps its unsent values for its next step.
 *
 * <p>A gradient that is not finite is not accumulated; its rank sends NaN for it, so that the NaN policy ends or drops
 * the step on all ranks. Values sent in a dropped step are sent again later. Belongs to a model thread.
 */
public final class LargestSum implements GradientSum {

  /** Pairs of a running bucket, by rank. */
  private record UnderWay(int from, long[] pairs) {}

  private final PeerRanks peers;
  private final int rank;
  private final int worldSize;
  private final Sparsity sparsity;
  private final OptimizerSpec optimizer;
  private final GradientCompressor compressor;
  private final int[] starts;
  private final float[] gradient;
  private final float[] marks;
  /** Parameters' bytes, for decay. */
  private final ByteBuffer values;
  private final List<UnderWay> sent = new ArrayList<>();
  private DenseMemory parameters;
  private TensorMemory memory;
  private FloatBuffer floats;
  private long step;
  private double weight;
  private boolean finite;

  LargestSum(PeerRanks peers, int rank, int worldSize, List<DenseVariable> variables, Sparsity sparsity,
      OptimizerSpec optimizer) {
    this.peers = peers;
    this.rank = rank;
    this.worldSize = worldSize;
    this.sparsity = sparsity;
    this.optimizer = optimizer;
    starts = new int[variables.size() + 1];
    int longest = 0;
    for (int v = 0; v < variables.size(); v++) {
      starts[v + 1] = starts[v] + variables.get(v).numel();
      longest = Math.max(longest, variables.get(v).numel());
    }
    Momentum momentum = optimizer.optimizer() instanceof Momentum own ? own : new Momentum(0, false);
    compressor = new GradientCompressor(starts[variables.size()], momentum.momentum(), momentum.nesterov());
    gradient = new float[longest];
    marks = new float[Math.min(DenseValues.BLOCK, longest)];
    values = ByteBuffer.allocate(optimizer.weightDecay() > 0 ? Math.multiplyExact(longest, Float.BYTES) : 0)
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void starts(DenseMemory values) {
    parameters = values;
  }

  @Override
  public Map<String, float[]> kept() {
    Map<String, float[]> kept = new LinkedHashMap<>();
    kept.put("residual", compressor.residual());
    if (compressor.velocity() != null) {
      kept.put("velocity", compressor.velocity());
    }
    return kept;
  }

  @Override
  public boolean carriesHeader() {
    return false;
  }

  @Override
  public void begins(TensorMemory gradients, long ofStep, double ofRank) {
    memory = gradients;
    floats = gradients.bytes().asFloatBuffer();
    step = ofStep;
    weight = ofRank;
    finite = true;
    sent.clear();
  }

  @Override
  public CompletableFuture<Boolean> send(int from, int to) {
    int first = variable(from);
    int end = variable(to);
    if (sparsity.isWhole(step)) {
      for (int v = first; v < end; v++) {
        takeWhole(starts[v], starts[v + 1] - starts[v]);
      }
      return peers.sum(memory, from, to, WireType.FLOAT32);
    }
    int kept = 0;
    for (int v = first; v < end; v++) {
      kept += sparsity.kept(step, starts[v + 1] - starts[v]);
    }
    long[] pairs = new long[kept * worldSize];
    int at = kept * rank;
    for (int v = first; v < end; v++) {
      int k = sparsity.kept(step, starts[v + 1] - starts[v]);
      takeLargest(starts[v], starts[v + 1] - starts[v], k, pairs, at);
      at += k;
    }
    sent.add(new UnderWay(from, pairs));
    return peers.gather(pairs).thenApply(gathered -> false);
  }

  /** Returns the first variable that does not begin before this element. */
  private int variable(int start) {
    int v = 0;
    while (starts[v] < start) {
      v++;
    }
    return v;
  }

  private void takeWhole(int at, int n) {
    if (weight > 0 && take(at, n) < 0) {
      compressor.accumulate(gradient, at, n);
      compressor.takeWhole(at, n, gradient);
      floats.put(at, gradient, 0, n);
    }
  }

  private void takeLargest(int at, int n, int k, long[] pairs, int first) {
    int bad = weight > 0 ? take(at, n) : -1;
    if (weight > 0 && bad < 0) {
      compressor.accumulate(gradient, at, n);
      compressor.takeLargest(at, n, k, pairs, first);
      return;
    }
    Arrays.fill(pairs, first, first + k, SparsePairs.pair(at, 0));
    if (bad >= 0 && k > 0) {
      pairs[first] = SparsePairs.pair(at + bad, Float.NaN);
    }
  }

  /**
   * Reads the gradient of these elements, clipped and with decay; returns the index of an element that is not finite,
   * or -1.
   */
  private int take(int at, int n) {
    floats.get(at, gradient, 0, n);
    for (int from = 0; from < n; from += marks.length) {
      int bad = NonFinite.find(gradient, from, Math.min(marks.length, n - from), marks);
      if (bad >= 0) {
        return bad;
      }
    }
    GradientClipping.byNorm(gradient, 0, n, (float) (weight * optimizer.clipNorm() / Math.sqrt(worldSize)));
    if (optimizer.weightDecay() > 0) {
      float decay = (float) (weight * optimizer.weightDecay());
      values.clear();
      parameters.copy(at, n, values);
      for (int i = 0; i < n; i++) {
        gradient[i] += decay * values.getFloat(i * Float.BYTES);
      }
    }
    return -1;
  }

  @Override
  public void receive(int from, int to) {
    for (UnderWay bucket : sent) {
      if (bucket.from() == from) {
        Scaling.scale(floats, from, to, 0);
        finite &= SparsePairs.addTo(floats, from, to, bucket.pairs());
      }
    }
  }

  @Override
  public void stepped() {
    if (!finite) {
      for (UnderWay bucket : sent) {
        int kept = bucket.pairs().length / worldSize;
        compressor.giveBack(bucket.pairs(), kept * rank, kept * (rank + 1));
      }
    }
  }

  /** Returns the optimizer that is left after the sum. */
  public static OptimizerSpec update(OptimizerSpec optimizer) {
    return OptimizerSpec.of(new Sgd(), optimizer.learningRate());
  }
}
