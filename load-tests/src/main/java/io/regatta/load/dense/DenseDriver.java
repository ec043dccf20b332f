package io.regatta.load.dense;

import io.regatta.load.process.WorkerPair;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Task;
import io.regatta.load.run.Secured;
import io.regatta.protocol.stream.StreamOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The driver of dense push and pull of one vector between a trainer and a shard, for every kind of {@link Peers} and
 * chunk size, and programs of the system. A push is measured from the call to the acknowledgement of the applied
 * gradient, a pull until all values are in the trainer's memory. After the rounds the weights of every kind are
 * compared with the closed form.
 */
public final class DenseDriver {

  private DenseDriver() {}

  /** Returns the work of this driver's worker. */
  public static Task task(JsonObject setup) throws Exception {
    return setup.getString("role").equals("server") ? new DenseServer(setup) : new DenseClient(setup);
  }

  /** Returns all kinds. */
  public static List<String> kinds() {
    return Peers.names();
  }

  /**
   * Runs these kinds, and iperf3 and OpenMPI if they are installed. Blocks; fails if a kind's weights come out wrong.
   *
   * @param elements floats of the vector
   * @param chunks bytes
   */
  public static DenseResult run(Scale scale, int elements, List<Integer> chunks, List<String> kinds)
      throws IOException {
    List<WorkerPair> pairs = new ArrayList<>();
    Map<DenseResult.Key, Contestant> contestants = new LinkedHashMap<>();
    Map<DenseResult.Key, List<Sample>> samples = new LinkedHashMap<>();
    try (SystemPeers programs = new SystemPeers()) {
      for (String kind : kinds) {
        boolean chunked = !kind.equals(Peers.MEMCPY);
        List<DenseTask> tasks = chunked ? chunks.stream().map(chunk -> new DenseTask(elements, chunk)).toList()
            : List.of(new DenseTask(elements, StreamOptions.defaults()));
        WorkerPair pair = start(kind, tasks);
        pairs.add(pair);
        for (int i = 0; i < tasks.size(); i++) {
          contestants.put(new DenseResult.Key(kind, chunked ? chunks.get(i) : 0, ""), new Contestant(pair, i, elements));
        }
      }
      contestants.values().forEach(c -> c.warmUp(scale));
      for (int round = 0; round < scale.rounds(); round++) {
        contestants.forEach((of, contestant) -> {
          for (String operation : Contestant.OPERATIONS) {
            add(samples, of.operation(operation), contestant.measure(operation));
          }
        });
        programs.measure(scale, elements * Float.BYTES, (key, sample) -> add(samples, key, sample));
      }
      contestants.values().forEach(Contestant::check);
    } finally {
      pairs.forEach(WorkerPair::close);
    }
    return new DenseResult(elements, chunks, samples);
  }

  /** Starts the processes of one kind, for all these tasks. */
  static WorkerPair start(String kind, List<DenseTask> tasks) throws IOException {
    JsonObject setup = new JsonObject().put("driver", "dense").put("kind", kind)
        .put("tasks", new JsonArray(tasks.stream().map(DenseTask::json).toList()));
    if (kind.equals(Peers.TLS)) {
      setup.put("certificates", Secured.directory().toString());
    }
    return WorkerPair.start(setup, Peers.oneProcess(kind));
  }

  private static void add(Map<DenseResult.Key, List<Sample>> samples, DenseResult.Key key, Sample sample) {
    samples.computeIfAbsent(key, k -> new ArrayList<>()).add(sample);
  }
}
