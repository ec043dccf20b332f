package io.regatta.load.dense;

import io.regatta.load.run.Sample;
import io.regatta.load.run.Scale;
import io.regatta.load.run.Task;
import io.regatta.load.run.WorkerPair;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Dense push and pull of one vector between a trainer and a shard, for every kind of {@link Peers} and chunk size, and
 * programs of the system. A push is measured from the call to the acknowledgement of the applied gradient, a pull until
 * all values are in the trainer's memory. After the rounds the weights of every kind are compared with the closed form.
 */
public final class DenseDriver {
  private static final double GIGA = 1e9;

  private DenseDriver() {}

  /** The task of a worker of this driver. */
  public static Task task(JsonObject setup) throws Exception {
    return setup.getString("role").equals("server") ? new DenseServer(setup) : new DenseClient(setup);
  }

  /** All kinds. */
  public static List<String> kinds() {
    return Peers.names();
  }

  /**
   * Runs these kinds, and iperf3 and OpenMPI if they are there. Blocks; fails if a kind's weights come out wrong.
   *
   * @param elements floats of the vector
   * @param chunks bytes
   */
  public static DenseResult run(Scale scale, int elements, List<Integer> chunks, List<String> kinds)
      throws IOException {
    List<Contestant> contestants = new ArrayList<>();
    Map<DenseResult.Key, List<Sample>> samples = new LinkedHashMap<>();
    try (SystemPeers programs = new SystemPeers()) {
      for (String kind : kinds) {
        List<Integer> sizes = kind.equals(Peers.MEMCPY) ? List.of(0) : chunks;
        JsonObject setup = new JsonObject().put("driver", "dense").put("kind", kind).put("elements", elements)
            .put("chunks", new JsonArray(sizes));
        WorkerPair pair = WorkerPair.start(setup, Peers.oneProcess(kind));
        for (int chunk : sizes) {
          contestants.add(new Contestant(kind, chunk, elements * Float.BYTES / GIGA, pair));
        }
      }
      contestants.forEach(c -> c.warmUp(scale));
      for (int round = 0; round < scale.rounds(); round++) {
        for (Contestant c : contestants) {
          for (String operation : DenseResult.OPERATIONS) {
            add(samples, new DenseResult.Key(c.kind, c.chunk, operation), c.measure(operation));
          }
        }
        programs.measure(scale, elements * Float.BYTES, (key, sample) -> add(samples, key, sample));
      }
      contestants.forEach(Contestant::check);
    } finally {
      contestants.forEach(c -> c.pair.close());
    }
    return new DenseResult(elements, chunks, samples);
  }

  private static void add(Map<DenseResult.Key, List<Sample>> samples, DenseResult.Key key, Sample sample) {
    samples.computeIfAbsent(key, k -> new ArrayList<>()).add(sample);
  }

  /** A kind with a chunk size. */
  private static final class Contestant {
    final String kind;
    final int chunk;
    final double gigabytes;
    final WorkerPair pair;
    final Map<String, Integer> times = new LinkedHashMap<>();

    Contestant(String kind, int chunk, double gigabytes, WorkerPair pair) {
      this.kind = kind;
      this.chunk = chunk;
      this.gigabytes = gigabytes;
      this.pair = pair;
    }

    private JsonObject command(String operation) {
      return new JsonObject().put("do", operation).put("chunk", chunk);
    }

    /** Also finds out how often an operation fits into a block. */
    void warmUp(Scale scale) {
      for (String operation : DenseResult.OPERATIONS) {
        times.put(operation, pair.warmUpInBlocks(command(operation), scale));
      }
    }

    Sample measure(String operation) {
      int n = times.get(operation);
      return pair.measure(command(operation).put("times", n), answer -> n * gigabytes);
    }

    void check() {
      pair.ask(command("check"));
    }
  }
}
