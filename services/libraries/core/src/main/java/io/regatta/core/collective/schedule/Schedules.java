package io.regatta.core.collective.schedule;

import io.regatta.core.collective.Operation;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.stream.IntStream;

/**
 * A factory of each rank's {@link Schedule} of a call, which all ranks must make with the same arguments except their
 * own rank. It supports any number of ranks and of elements; a single rank has an empty schedule. Pure functions.
 */
public final class Schedules {

  private Schedules() {}

  /**
   * Returns a rank's schedule of a call.
   *
   * @param size elements of the vector, at least 0
   * @param root of a broadcast or a reduce, otherwise unused
   * @param most elements of a message, at least 1
   * @param hostOf a number for the host of each rank, used by {@link Algorithm#HIERARCHICAL}; its length is the number
   *     of ranks
   * @throws InvalidInput if the algorithm cannot carry out the operation, see {@link #has}
   */
  public static Schedule of(Operation operation, Algorithm algorithm, int size, int rank, int root, int most,
      int[] hostOf) {
    check(operation, algorithm);
    Schedule schedule = new Schedule();
    int ranks = hostOf.length;
    switch (operation) {
      case BARRIER -> Dissemination.barrier(schedule, ranks, rank);
      case BROADCAST -> tree(algorithm, size, ranks, rank, root, most).broadcast(schedule);
      case REDUCE -> tree(algorithm, size, ranks, rank, root, most).reduce(schedule);
      case ALL_GATHER -> Ring.allGather(schedule, new Blocks(size, ranks, most), all(ranks), rank);
      case REDUCE_SCATTER -> Ring.reduceScatter(schedule, new Blocks(size, ranks, most), all(ranks), rank);
      case ALL_REDUCE -> allReduce(schedule, algorithm, size, rank, most, hostOf);
    }
    return schedule;
  }

  /**
   * Returns the schedule of a rank or of an aggregator for an all-reduce by aggregators, of at least two ranks.
   *
   * @param me a rank from 0 to {@code ranks - 1}, or an aggregator from {@code ranks}
   */
  public static Schedule aggregated(int size, int ranks, int aggregators, int me, int most) {
    Schedule schedule = new Schedule();
    if (me < ranks) {
      Aggregated.rank(schedule, size, ranks, aggregators, most);
    } else {
      Aggregated.aggregator(schedule, size, ranks, me - ranks, aggregators, most);
    }
    return schedule;
  }

  /** Returns true if {@link #of} makes schedules of this operation by this algorithm. */
  static boolean has(Operation operation, Algorithm algorithm) {
    return switch (operation) {
      case BARRIER -> algorithm == Algorithm.DISSEMINATION;
      case BROADCAST, REDUCE -> algorithm == Algorithm.TREE || algorithm == Algorithm.CHAIN;
      case ALL_GATHER, REDUCE_SCATTER -> algorithm == Algorithm.RING;
      case ALL_REDUCE -> switch (algorithm) {
        case RING, HALVING_DOUBLING, EXCHANGE, HIERARCHICAL, CENTRAL -> true;
        default -> false;
      };
    };
  }

  /**
   * Checks that {@link #of} makes schedules of this operation by this algorithm.
   *
   * @throws InvalidInput if it does not
   */
  static void check(Operation operation, Algorithm algorithm) {
    if (!has(operation, algorithm)) {
      throw new InvalidInput("there is no " + operation.word() + " by " + algorithm.word()
          + "; give another algorithm in the table of choices");
    }
  }

  private static Tree tree(Algorithm algorithm, int size, int ranks, int rank, int root, int most) {
    return algorithm == Algorithm.TREE ? Tree.binomial(size, ranks, rank, root, most)
        : Tree.chain(size, ranks, rank, root, most);
  }

  private static void allReduce(Schedule to, Algorithm algorithm, int size, int rank, int most, int[] hostOf) {
    int ranks = hostOf.length;
    switch (algorithm) {
      case EXCHANGE -> RecursiveDoubling.allReduce(to, size, ranks, rank, most);
      case HALVING_DOUBLING -> Halving.allReduce(to, size, ranks, rank, most);
      case HIERARCHICAL -> Hierarchy.allReduce(to, size, hostOf, rank, most);
      case CENTRAL -> Hierarchy.allReduce(to, size, new int[ranks], rank, most);
      case RING -> {
        Blocks blocks = new Blocks(size, ranks, most);
        Ring.reduceScatter(to, blocks, all(ranks), rank);
        Ring.allGather(to, blocks, all(ranks), rank);
      }
      default -> throw new AssertionError(algorithm);
    }
  }

  private static int[] all(int ranks) {
    return IntStream.range(0, ranks).toArray();
  }
}
