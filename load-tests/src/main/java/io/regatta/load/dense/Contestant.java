package io.regatta.load.dense;

import io.regatta.load.process.WorkerPair;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One task of a pair of processes that push and pull. Used by the coordinator's main thread. */
final class Contestant {
  static final List<String> OPERATIONS = List.of("push", "pull");
  private static final double GIGA = 1e9;

  private final WorkerPair pair;
  private final int task;
  private final double gigabytes;
  private final Map<String, Integer> times = new LinkedHashMap<>();

  /** @param task its number among the pair's */
  Contestant(WorkerPair pair, int task, int elements) {
    this.pair = pair;
    this.task = task;
    gigabytes = elements * (double) Float.BYTES / GIGA;
  }

  private JsonObject command(String operation) {
    return new JsonObject().put("do", operation).put("task", task);
  }

  /** Warms up, and determines how often an operation fits into a block. */
  void warmUp(Scale scale) {
    for (String operation : OPERATIONS) {
      times.put(operation, pair.warmUpInBlocks(command(operation), scale));
    }
  }

  Sample measure(String operation) {
    int n = times.get(operation);
    return pair.measure(command(operation).put("times", n), answer -> n * gigabytes);
  }

  /** Fails if the weights are not those of all pushes. */
  void check() {
    pair.ask(command("check"));
  }
}
