package io.regatta.core.collective.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.collective.Float16;
import io.regatta.core.collective.Operation;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Simulation;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.WireType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Every algorithm, simulated without a network, against the closed form. */
class SchedulesTest {
  private static final List<Algorithm> ALL_REDUCES =
      List.of(Algorithm.RING, Algorithm.HALVING_DOUBLING, Algorithm.EXCHANGE, Algorithm.HIERARCHICAL, Algorithm.CENTRAL);
  private static final List<WireType> NARROW = List.of(WireType.FLOAT16, WireType.BFLOAT16);

  /** Small whole numbers: their sums are exact in every order. */
  private static float value(int rank, int i) {
    return (rank * 7 + i * 3) % 31 - 15;
  }

  private static float[] vector(int rank, int size) {
    float[] v = new float[size];
    for (int i = 0; i < size; i++) {
      v[i] = value(rank, i);
    }
    return v;
  }

  private static List<float[]> vectors(int ranks, int size) {
    List<float[]> all = new ArrayList<>();
    for (int r = 0; r < ranks; r++) {
      all.add(vector(r, size));
    }
    return all;
  }

  private static List<Tensor> tensors(List<float[]> arrays) {
    return arrays.stream().map(Tensor::of).toList();
  }

  private static float[] reduced(int ranks, int size, ReduceOp op) {
    float[] result = new float[size];
    for (int i = 0; i < size; i++) {
      float all = value(0, i);
      for (int r = 1; r < ranks; r++) {
        float v = value(r, i);
        all = switch (op) {
          case SUM, MEAN -> all + v;
          case MIN -> Math.min(all, v);
          case MAX -> Math.max(all, v);
        };
      }
      result[i] = op == ReduceOp.MEAN ? all / ranks : all;
    }
    return result;
  }

  /** Hosts of unequal size, ranks dealt out at random. */
  private static int[] hosts(int ranks, long seed) {
    Random random = new Random(seed);
    int hosts = 1 + random.nextInt(ranks);
    return random.ints(ranks, 0, hosts).toArray();
  }

  /** Each operation by each of its algorithms, with elements that every wire holds exactly, and their sums too. */
  @Property(tries = 60)
  void every_operation_does_what_it_says_on_every_wire(@ForAll @IntRange(min = 1, max = 9) int ranks,
      @ForAll @IntRange(max = 70) int size, @ForAll @IntRange(min = 3, max = 40) int most, @ForAll ReduceOp op,
      @ForAll long seed) {
    for (Operation operation : Operation.values()) {
      for (Algorithm algorithm : Algorithm.values()) {
        for (WireType wire : WireType.values()) {
          boolean inexact = op == ReduceOp.MEAN && (wire == WireType.INT64 || wire.narrows() && Integer.bitCount(ranks) > 1);
          if (Schedules.has(operation, algorithm) && !(algorithm == Algorithm.EXCHANGE && wire.narrows()) && !inexact) {
            check(operation, algorithm, wire, ranks, size, most, op, seed);
          }
        }
      }
    }
  }

  private static void check(Operation operation, Algorithm algorithm, WireType wire, int ranks, int size, int most,
      ReduceOp op, long seed) {
    int root = (int) Math.floorMod(seed, ranks);
    List<float[]> floats = vectors(ranks, size);
    List<long[]> counters = floats.stream().map(SchedulesTest::counters).toList();
    List<Tensor> tensors = wire == WireType.INT64 ? counters.stream().map(Tensor::of).toList()
        : floats.stream().map(vector -> Tensor.of(vector).on(wire)).toList();
    Simulation.run(operation, algorithm, tensors, op, root, most, hosts(ranks, seed), seed);
    Parts parts = new Parts(size, ranks);
    for (int r = 0; r < ranks; r++) {
      boolean part = operation == Operation.REDUCE_SCATTER;
      float[] wanted = switch (operation) {
        case ALL_REDUCE, REDUCE_SCATTER -> reduced(ranks, size, op);
        case REDUCE -> r == root ? reduced(ranks, size, op) : null;
        case BROADCAST -> vector(root, size);
        case ALL_GATHER -> gathered(parts, ranks, size);
        case BARRIER -> vector(r, size);
      };
      if (wanted != null) {
        int from = part ? parts.from(r) : 0;
        int to = part ? from + parts.length(r) : size;
        String call = operation.word() + " by " + algorithm.word() + ", " + wire + ", rank " + r;
        if (wire == WireType.INT64) {
          assertThat(Arrays.copyOfRange(counters.get(r), from, to)).as(call)
              .isEqualTo(counters(Arrays.copyOfRange(wanted, from, to)));
        } else {
          assertThat(Arrays.copyOfRange(floats.get(r), from, to)).as(call)
              .isEqualTo(Arrays.copyOfRange(wanted, from, to));
        }
      }
    }
  }

  /** At each rank each element becomes final once, and is looked at then; one rank alone looks at nothing. */
  @Property(tries = 60)
  void a_watched_sum_knows_at_every_rank_whether_it_is_finite(@ForAll @IntRange(min = 1, max = 9) int ranks,
      @ForAll @IntRange(min = 1, max = 70) int size, @ForAll @IntRange(min = 3, max = 40) int most, @ForAll boolean bad,
      @ForAll boolean overflows, @ForAll long seed) {
    int at = (int) Math.floorMod(seed, size);
    for (Algorithm algorithm : ALL_REDUCES) {
      List<float[]> vectors = vectors(ranks, size);
      if (bad && overflows) {
        vectors.forEach(vector -> vector[at] = Float.MAX_VALUE); // finite in itself, and the sum is not
      } else if (bad) {
        vectors.get((int) Math.floorMod(seed / 71, ranks))[at] = seed % 2 == 0 ? Float.NaN : Float.NEGATIVE_INFINITY;
      }
      List<Tensor> tensors = vectors.stream().map(vector -> Tensor.of(vector).watched()).toList();
      Simulation.run(Operation.ALL_REDUCE, algorithm, tensors, ReduceOp.SUM, 0, most, hosts(ranks, seed), seed);
      assertThat(tensors).as(algorithm.word()).allMatch(tensor -> tensor.isKnownFinite() == (ranks > 1 && !bad));
    }
  }

  /** Whole numbers of up to 8 bits as ones that no float or double holds; so are their sums. */
  private static long[] counters(float[] of) {
    long[] counters = new long[of.length];
    for (int i = 0; i < of.length; i++) {
      counters[i] = (long) of[i] * ((1L << 54) + 1);
    }
    return counters;
  }

  private static float[] gathered(Parts parts, int ranks, int size) {
    float[] gathered = new float[size];
    for (int r = 0; r < ranks; r++) {
      System.arraycopy(vector(r, size), parts.from(r), gathered, parts.from(r), parts.length(r));
    }
    return gathered;
  }

  @Property(tries = 60)
  void aggregators_give_every_rank_the_reduction(@ForAll @IntRange(min = 2, max = 6) int ranks,
      @ForAll @IntRange(min = 1, max = 3) int aggregators, @ForAll @IntRange(max = 70) int size,
      @ForAll @IntRange(min = 3, max = 40) int most, @ForAll ReduceOp op, @ForAll long seed) {
    List<float[]> arrays = vectors(ranks, size);
    List<Tensor> tensors = new ArrayList<>(tensors(arrays));
    for (int a = 0; a < aggregators; a++) {
      tensors.add(Tensor.of(new float[size]));
    }
    Simulation.aggregated(tensors, ranks, op, most, seed);
    assertThat(arrays).allSatisfy(of -> assertThat(of).isEqualTo(reduced(ranks, size, op)));
  }

  /** Values whose sums depend on the order, narrow wires and direct memory: the same bits everywhere, and in every run. */
  @Property(tries = 40)
  void all_ranks_have_the_same_bits_in_every_run(@ForAll @IntRange(min = 2, max = 9) int ranks, @ForAll long seed) {
    Random random = new Random(seed);
    int size = random.nextInt(300);
    int most = 10 + random.nextInt(100);
    float[][] values = new float[ranks][size];
    for (float[] v : values) {
      for (int i = 0; i < size; i++) {
        v[i] = (random.nextFloat() - 0.5f) * (1 << random.nextInt(20));
      }
    }
    int[] hostOf = hosts(ranks, seed);
    for (WireType wire : List.of(WireType.FLOAT32, WireType.FLOAT16, WireType.BFLOAT16)) {
      for (Algorithm algorithm : ALL_REDUCES) {
        if (algorithm == Algorithm.EXCHANGE && wire.narrows()) {
          continue;
        }
        float[] first = null;
        for (int run = 0; run < 2; run++) {
          List<ByteBuffer> memory = new ArrayList<>();
          for (float[] v : values) {
            memory.add(direct(v));
          }
          Simulation.run(Operation.ALL_REDUCE, algorithm, memory.stream().map(m -> Tensor.of(m).on(wire)).toList(),
              ReduceOp.MEAN, 0, most, hostOf, seed + run);
          for (ByteBuffer m : memory) {
            float[] result = new float[size];
            m.asFloatBuffer().get(result);
            first = first == null ? result : first;
            assertThat(result).as("%s %s, run %d", algorithm, wire, run).isEqualTo(first);
          }
        }
        for (int i = 0; i < size; i++) {
          double sum = 0;
          double magnitude = 0;
          for (float[] v : values) {
            sum += v[i];
            magnitude = Math.max(magnitude, Math.abs(v[i]));
          }
          double error = switch (wire) {
            case FLOAT16 -> 0x1p-10;
            case BFLOAT16 -> 0x1p-7;
            default -> 0x1p-20;
          };
          if (wire != WireType.FLOAT16 || magnitude < 65_000) {
            assertThat((double) first[i]).isCloseTo(sum / ranks, org.assertj.core.data.Offset.offset(
                error * ranks * magnitude + 1e-6));
          }
        }
      }
    }
  }

  /** The rank that has the elements keeps no more bits of them than the others get. */
  @Property(tries = 40)
  void with_a_narrow_wire_broadcast_and_all_gather_leave_the_same_bits_too(@ForAll @IntRange(min = 2, max = 9) int ranks,
      @ForAll @IntRange(max = 70) int size, @ForAll @IntRange(min = 3, max = 40) int most, @ForAll long seed) {
    int root = (int) Math.floorMod(seed, ranks);
    Parts parts = new Parts(size, ranks);
    for (WireType wire : NARROW) {
      for (Algorithm algorithm : List.of(Algorithm.TREE, Algorithm.CHAIN, Algorithm.RING)) {
        Operation operation = algorithm == Algorithm.RING ? Operation.ALL_GATHER : Operation.BROADCAST;
        List<float[]> arrays = new ArrayList<>();
        for (int r = 0; r < ranks; r++) {
          float[] thirds = vector(r, size);
          for (int i = 0; i < size; i++) {
            thirds[i] /= 3;
          }
          arrays.add(thirds);
        }
        float[] expected = new float[size];
        for (int i = 0; i < size; i++) {
          int owner = root;
          for (int r = 0; r < ranks && operation == Operation.ALL_GATHER; r++) {
            owner = i >= parts.from(r) ? r : owner;
          }
          float value = arrays.get(operation == Operation.ALL_GATHER ? owner : root)[i];
          expected[i] = wire == WireType.FLOAT16 ? Float16.ofHalf(Float16.half(value)) : Float16.ofBrain(Float16.brain(value));
        }
        Simulation.run(operation, algorithm, arrays.stream().map(a -> Tensor.of(a).on(wire)).toList(), ReduceOp.SUM, root,
            most, new int[ranks], seed);
        assertThat(arrays).allSatisfy(a -> assertThat(a).as("%s %s", operation, wire).isEqualTo(expected));
      }
    }
  }

  /** The sum of the ranks' values is far beyond a half's 65504, their mean is not. */
  @Property(tries = 40)
  void a_mean_of_halves_within_range_stays_within_range(@ForAll @IntRange(min = 2, max = 9) int ranks,
      @ForAll @IntRange(max = 70) int size, @ForAll @IntRange(min = 3, max = 40) int most, @ForAll long seed) {
    for (Operation operation : List.of(Operation.ALL_REDUCE, Operation.REDUCE)) {
      for (Algorithm algorithm : operation == Operation.REDUCE ? List.of(Algorithm.TREE, Algorithm.CHAIN) : ALL_REDUCES) {
        if (algorithm == Algorithm.EXCHANGE) {
          continue;
        }
        List<float[]> arrays = new ArrayList<>();
        for (int r = 0; r < ranks; r++) {
          float[] greatest = new float[size];
          for (int i = 0; i < size; i++) {
            greatest[i] = i % 2 == 0 ? 65_504 : -65_504;
          }
          arrays.add(greatest);
        }
        Simulation.run(operation, algorithm, arrays.stream().map(a -> Tensor.of(a).on(WireType.FLOAT16)).toList(),
            ReduceOp.MEAN, 0, most, hosts(ranks, seed), seed);
        for (int r = 0; r < (operation == Operation.REDUCE ? 1 : ranks); r++) {
          for (int i = 0; i < size; i++) {
            assertThat(Math.abs(arrays.get(r)[i])).as("%s, rank %d", algorithm, r).isBetween(65_504f - 32 * ranks, 65_504f);
          }
        }
      }
    }
  }

  private static ByteBuffer direct(float[] values) {
    ByteBuffer memory = ByteBuffer.allocateDirect(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    memory.asFloatBuffer().put(values);
    return memory;
  }

  @Test
  void counters_are_reduced_exactly() {
    for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.MIN, ReduceOp.MAX)) {
      for (Algorithm algorithm : ALL_REDUCES) {
        long[][] counters = new long[5][5000];
        for (int r = 0; r < 5; r++) {
          Arrays.fill(counters[r], (1L << 60) + r);
        }
        Simulation.run(Operation.ALL_REDUCE, algorithm, Arrays.stream(counters).map(Tensor::of).toList(), op, 0, 3000,
            new int[] {0, 0, 2, 2, 2}, 1);
        long expected = (1L << 60) * (op == ReduceOp.SUM ? 5 : 1) + (op == ReduceOp.SUM ? 10 : op == ReduceOp.MAX ? 4 : 0);
        assertThat(List.of(counters)).allSatisfy(c -> assertThat(c).containsOnly(expected));
      }
    }
  }

  /**
   * Large vectors send 2 (p - 1) / p of their elements over each rank's links, by a ring as by halving and doubling.
   */
  @Test
  void a_ring_and_halving_send_as_few_elements_as_can_be() {
    for (Algorithm algorithm : List.of(Algorithm.RING, Algorithm.HALVING_DOUBLING)) {
      for (int r = 0; r < 8; r++) {
        Schedule schedule = Schedules.of(Operation.ALL_REDUCE, algorithm, 8000, r, 0, 100, new int[8]);
        int sent = schedule.steps().stream().filter(s -> s.kind() == Step.Kind.SEND).mapToInt(Step::count).sum();
        assertThat(sent).as("%s, rank %d", algorithm, r).isEqualTo(2 * 7 * 1000);
      }
    }
  }
}
