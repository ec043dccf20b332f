import io.regatta.core.dense.LittleEndian;
import io.regatta.core.dense.NonFinite;
import io.regatta.core.optim.ElementwiseOptimizer;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.UpdateStep;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The table of docs/decisions/0011: what a shard does with a dense gradient, against loops of the Vector API that read it
 * straight from the receive buffer. For JDK 17 and 18, which have {@code fromByteBuffer}. Outside of the build, so that nothing
 * in it needs the incubator's module; Java compiles this file when it runs it. One thread.
 *
 * <pre>java --add-modules jdk.incubator.vector -cp load-tests/target/load-tests.jar load-tests/src/vector/VectorLoops.java</pre>
 */
public final class VectorLoops {
  private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int BLOCK = 8192;
  private static final int GRADIENT_BLOCKS = 8;
  private static final int UNALIGNED = 3;
  private static final int WARM_UPS = 5;
  private static final int ROUNDS = 9;
  private static final float RATE = 0.01f;
  private static final float EPSILON = 1e-6f;
  private static final float ADAM_EPSILON = 1e-8f;
  private static final float B1 = 0.9f;
  private static final float B2 = 0.999f;

  private final ByteBuffer gradient;
  private final float[] scratch = new float[BLOCK];
  private final float[] marks = new float[BLOCK];
  private int bad;

  private VectorLoops() {
    int bytes = GRADIENT_BLOCKS * BLOCK * Float.BYTES;
    ByteBuffer memory = ByteBuffer.allocateDirect(bytes + UNALIGNED);
    gradient = memory.slice(UNALIGNED, bytes).order(ByteOrder.LITTLE_ENDIAN);
    SplittableRandom random = new SplittableRandom(7);
    for (int at = 0; at < bytes; at += Float.BYTES) {
      gradient.putFloat(at, (float) random.nextDouble() - 0.5f);
    }
  }

  /** @param args megabytes of weights, 64 if there is none */
  public static void main(String[] args) {
    int blocks = Math.max(1, (args.length == 0 ? 64 : Integer.parseInt(args[0])) * 1_000_000 / Float.BYTES / BLOCK);
    VectorLoops loops = new VectorLoops();
    System.out.println(SPECIES + ", Java " + Runtime.version() + ", load "
        + ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage() + ": CPU s per GB of gradient, medians of "
        + ROUNDS + "\n\n| | scratch array and loops | `FloatVector.fromByteBuffer` straight from the buffer |\n|---|---|---|");
    for (OptimizerSpec spec : new OptimizerSpec[] {OptimizerSpec.sgd(RATE), OptimizerSpec.of("adagrad", RATE),
        OptimizerSpec.of("adam", RATE)}) {
      State one = new State(spec, blocks);
      State other = new State(spec, blocks);
      double scalar = median(blocks, () -> loops.scalar(one));
      double vector = median(blocks, () -> loops.vector(other, spec.name()));
      for (int b = 0; b < blocks; b++) {
        if (!Arrays.equals(one.weights[b], other.weights[b])) {
          throw new IllegalStateException(spec.name() + ": the two do not come to the same bits in block " + b);
        }
      }
      row(spec.name(), scalar, vector);
    }
    row("the copy alone", median(blocks, () -> loops.copy(blocks)), Double.NaN);
    row("search for NaN, in the cache", median(blocks, () -> loops.search(blocks)),
        median(blocks, () -> loops.searchVector(blocks)));
  }

  private static void row(String what, double scalar, double vector) {
    System.out.printf(Locale.ROOT, "| %s | %.3f | %s |%n", what, scalar,
        Double.isNaN(vector) ? "" : String.format(Locale.ROOT, "%.3f", vector));
  }

  private static double median(int blocks, Runnable pass) {
    double[] seconds = new double[ROUNDS];
    for (int i = -WARM_UPS; i < ROUNDS; i++) {
      long begin = THREADS.getCurrentThreadCpuTime();
      pass.run();
      if (i >= 0) {
        seconds[i] = (THREADS.getCurrentThreadCpuTime() - begin) * 1e-9;
      }
    }
    Arrays.sort(seconds);
    return seconds[ROUNDS / 2] / (blocks * (double) BLOCK * Float.BYTES * 1e-9);
  }

  /** Weights and slots in blocks, as a shard has them. */
  private static final class State {
    final OptimizerSpec spec;
    final float[][] weights;
    final float[][][] slots;
    long updates;

    State(OptimizerSpec spec, int blocks) {
      this.spec = spec;
      weights = new float[blocks][BLOCK];
      slots = new float[blocks][spec.optimizer().slots().size()][BLOCK];
    }
  }

  private void scalar(State s) {
    UpdateStep step = s.spec.step(RATE, ++s.updates);
    for (int b = 0; b < s.weights.length; b++) {
      read(b);
      ((ElementwiseOptimizer) s.spec.optimizer()).applyWhole(s.weights[b], s.slots[b], scratch, step);
    }
  }

  private void read(int block) {
    gradient.position(block % GRADIENT_BLOCKS * BLOCK * Float.BYTES);
    LittleEndian.get(gradient, scratch, 0, BLOCK);
  }

  private void vector(State s, String kind) {
    s.updates++;
    double left = 1 - power(B2, s.updates);
    float adamRate = (float) (RATE * Math.sqrt(left) / (1 - power(B1, s.updates)));
    float adamEpsilon = (float) (ADAM_EPSILON * Math.sqrt(left));
    for (int b = 0; b < s.weights.length; b++) {
      int from = b % GRADIENT_BLOCKS * BLOCK * Float.BYTES;
      switch (kind) {
        case "sgd" -> sgd(s.weights[b], from);
        case "adagrad" -> adagrad(s.weights[b], s.slots[b][0], from);
        default -> adam(s.weights[b], s.slots[b][0], s.slots[b][1], from, adamRate, adamEpsilon);
      }
    }
  }

  /** As core's Adam does it, so that the bits are the same. */
  private static double power(double b, long t) {
    double result = 1;
    double square = b;
    for (long left = t; left > 0; left >>= 1) {
      result = (left & 1) == 1 ? result * square : result;
      square *= square;
    }
    return result;
  }

  private FloatVector g(int from, int i) {
    return FloatVector.fromByteBuffer(SPECIES, gradient, from + i * Float.BYTES, ByteOrder.LITTLE_ENDIAN);
  }

  private void sgd(float[] w, int from) {
    for (int i = 0; i < BLOCK; i += SPECIES.length()) {
      FloatVector.fromArray(SPECIES, w, i).sub(g(from, i).mul(RATE)).intoArray(w, i);
    }
  }

  private void adagrad(float[] w, float[] sums, int from) {
    for (int i = 0; i < BLOCK; i += SPECIES.length()) {
      FloatVector g = g(from, i);
      FloatVector h = FloatVector.fromArray(SPECIES, sums, i).add(g.mul(g));
      h.intoArray(sums, i);
      FloatVector.fromArray(SPECIES, w, i).sub(g.mul(RATE).div(h.lanewise(VectorOperators.SQRT).add(EPSILON)))
          .intoArray(w, i);
    }
  }

  private void adam(float[] w, float[] first, float[] second, int from, float rate, float epsilon) {
    for (int i = 0; i < BLOCK; i += SPECIES.length()) {
      FloatVector g = g(from, i);
      FloatVector m = FloatVector.fromArray(SPECIES, first, i).mul(B1).add(g.mul(1 - B1));
      FloatVector v = FloatVector.fromArray(SPECIES, second, i).mul(B2).add(g.mul(g).mul(1 - B2));
      m.intoArray(first, i);
      v.intoArray(second, i);
      FloatVector.fromArray(SPECIES, w, i).sub(m.mul(rate).div(v.lanewise(VectorOperators.SQRT).add(epsilon)))
          .intoArray(w, i);
    }
  }

  private void copy(int blocks) {
    for (int b = 0; b < blocks; b++) {
      read(b);
      bad += Float.floatToRawIntBits(scratch[b % BLOCK]) & 1;
    }
  }

  private void search(int blocks) {
    for (int b = 0; b < blocks; b++) {
      bad += NonFinite.find(scratch, BLOCK, marks);
    }
  }

  private void searchVector(int blocks) {
    for (int b = 0; b < blocks; b++) {
      FloatVector sum = FloatVector.zero(SPECIES);
      for (int i = 0; i < BLOCK; i += SPECIES.length()) {
        sum = FloatVector.fromArray(SPECIES, scratch, i).mul(0).add(sum);
      }
      bad += sum.reduceLanes(VectorOperators.ADD) == 0 ? 0 : 1;
    }
  }
}
