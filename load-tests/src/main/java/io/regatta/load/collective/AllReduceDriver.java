package io.regatta.load.collective;

import io.regatta.core.collective.Operation;
import io.regatta.core.collective.schedule.Algorithm;
import io.regatta.core.collective.schedule.Choices;
import io.regatta.core.collective.schedule.Choices.Choice;
import io.regatta.core.collective.schedule.Choices.Row;
import io.regatta.core.collective.schedule.Reach;
import io.regatta.load.collective.Contender.Calls;
import io.regatta.load.process.Medians;
import io.regatta.load.process.MpiProgram;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Table;
import io.regatta.load.process.Task;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The driver of all-reduce of vectors of float32 from direct memory. Each rank is in a process of its own or all ranks
 * are in one, beside OpenMPI and Gloo if they are installed. Each round runs all of them in turn. Blocks.
 */
public final class AllReduceDriver {

  /** Sizes from 4 KB to 64 MB. */
  public static final List<Integer> SIZES = List.of(4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20);

  private AllReduceDriver() {}

  /** Returns the work of this driver's worker. */
  public static Task task(JsonObject setup) {
    return new AllReduceTask(setup);
  }

  /**
   * Runs all contenders.
   *
   * @param sizes bytes of the vectors
   * @param ranks sizes of groups
   */
  public static AllReduceResult run(Scale scale, List<Integer> sizes, List<Integer> ranks) throws IOException {
    List<Contender> contenders = new ArrayList<>();
    AllReduceResult result = new AllReduceResult(sizes, ranks);
    try {
      String mpi = MpiProgram.missing().orElse("");
      for (int n : ranks) {
        for (String kind : RegattaGroup.KINDS) {
          RegattaGroup group = new RegattaGroup(kind, n);
          contenders.add(group);
          sizes.forEach(group::check);
        }
        add(contenders, OpenMpiGroup.find(OpenMpiGroup.TCP, n), "OPENMPI", mpi);
        add(contenders, OpenMpiGroup.find(OpenMpiGroup.SHARED_MEMORY, n), "OPENMPI", mpi);
        add(contenders, GlooGroup.find(n), "GLOO", GlooGroup.MISSING);
      }
      Map<Contender, List<Integer>> times = new HashMap<>();
      for (Contender contender : contenders) {
        List<Integer> fits = new ArrayList<>();
        for (int bytes : sizes) {
          fits.add(warmUp(scale, contender, bytes));
        }
        times.put(contender, fits);
      }
      for (int round = 0; round < scale.rounds(); round++) {
        for (int s = 0; s < sizes.size(); s++) {
          for (Contender contender : contenders) {
            result.add(contender, sizes.get(s), contender.run(sizes.get(s), times.get(contender).get(s)));
          }
        }
      }
    } finally {
      for (Contender contender : contenders) {
        contender.close();
      }
    }
    return result;
  }

  private static void add(List<Contender> to, Optional<Contender> found, String name, String why) {
    found.ifPresentOrElse(to::add, () -> System.err.println("drivers: " + name + " IS NOT MEASURED: " + why));
  }

  /**
   * Warms up until its limit, or until three blocks were no faster; returns how many calls make a block. Native peers
   * need no warm-up.
   */
  private static int warmUp(Scale scale, Contender contender, int bytes) throws IOException {
    int times = scale.fits(contender.run(bytes, 2).median());
    double spent = 0;
    double best = Double.POSITIVE_INFINITY;
    for (int level = 0; level < 3 && spent < scale.warmUpLimitSeconds(); ) {
      Calls calls = contender.run(bytes, times);
      level = calls.median() < best * 0.95 ? 0 : level + 1;
      best = Math.min(best, calls.median());
      spent += calls.seconds();
      times = scale.fits(calls.median());
      if (!(contender instanceof RegattaGroup)) {
        break;
      }
    }
    return times;
  }

  /**
   * Measures each all-reduce with several chunk sizes, between ranks of one process, of one machine and of several. The
   * rows of the fastest choices are for choices.txt, or for a job's {@code collective.algorithms}.
   *
   * @return the rows for all-reduce, as text; a row for each way, number of ranks and size, with equal neighbours
   *     joined
   */
  public static String refit(Scale scale, List<Integer> sizes, List<Integer> ranks) throws IOException {
    List<Row> rows = new ArrayList<>();
    Table table = new Table("reach", "ranks", "bytes", "algorithm", "chunk", "p50 µs");
    for (Reach reach : Reach.values()) {
      for (int n : ranks) {
        try (RegattaGroup group = new RegattaGroup(RegattaGroup.of(reach), n)) {
          List<Choice> fastest = new ArrayList<>();
          for (int bytes : sizes) {
            Map<Choice, double[]> measured = measure(scale, group, candidates(bytes), bytes);
            measured.forEach((choice, micros) ->
                table.row(reach.word(), n, bytes, choice.algorithm().word(), choice.chunkBytes(), Medians.of(micros)));
            fastest.add(measured.entrySet().stream().min(Comparator.comparingDouble(one -> Medians.of(one.getValue())))
                .orElseThrow().getKey());
          }
          rows.addAll(rows(reach, n == ranks.get(ranks.size() - 1) ? Integer.MAX_VALUE : n, sizes, fastest));
        }
      }
    }
    return table + "\n" + new Choices(rows).text();
  }

  /** Returns a row for each run of sizes with the same choice; it ends in the middle between two sizes, in powers. */
  private static List<Row> rows(Reach reach, int ranks, List<Integer> sizes, List<Choice> fastest) {
    List<Row> rows = new ArrayList<>();
    for (int s = 0; s < sizes.size(); s++) {
      boolean last = s == sizes.size() - 1;
      if (last || !fastest.get(s).equals(fastest.get(s + 1))) {
        rows.add(new Row(Operation.ALL_REDUCE, reach, ranks,
            last ? Long.MAX_VALUE : (long) Math.sqrt((double) sizes.get(s) * sizes.get(s + 1)), fastest.get(s)));
      }
    }
    return rows;
  }

  /**
   * Returns the candidates. The ring, which is pipelined, comes in every chunk size that cuts a vector into at most
   * 256. The other two, for up to 4 MB, come in some sizes, of which the smallest is copied to be sent. A chunk that
   * holds the vector is enough: larger ones are the same.
   */
  private static List<Choice> candidates(int bytes) {
    List<Choice> all = new ArrayList<>();
    inChunks(all, Algorithm.RING, bytes, Math.max(16 << 10, bytes >> 8), 2);
    if (bytes <= 4 << 20) {
      inChunks(all, Algorithm.HALVING_DOUBLING, bytes, 32 << 10, 8);
      inChunks(all, Algorithm.EXCHANGE, bytes, 32 << 10, 8);
    }
    return all;
  }

  private static void inChunks(List<Choice> to, Algorithm algorithm, int bytes, int smallest, int factor) {
    for (int chunk = smallest; chunk <= 4 << 20; chunk *= factor) {
      to.add(new Choice(algorithm, chunk));
      if (chunk >= bytes) {
        return;
      }
    }
  }

  private static Map<Choice, double[]> measure(Scale scale, RegattaGroup group, List<Choice> choices, int bytes) {
    Map<Choice, double[]> all = new LinkedHashMap<>();
    choices.forEach(choice -> all.put(choice, new double[scale.rounds()]));
    for (int round = -1; round < scale.rounds(); round++) { // the first one warms up
      for (Choice choice : choices) {
        group.form(new Choices(List.of(new Row(Operation.ALL_REDUCE, null, Integer.MAX_VALUE, Long.MAX_VALUE, choice))).text());
        int times = scale.fits(group.run(bytes, 5).median());
        double micros = group.run(bytes, times).micros();
        if (round >= 0) {
          all.get(choice)[round] = micros;
        }
      }
    }
    return all;
  }
}
