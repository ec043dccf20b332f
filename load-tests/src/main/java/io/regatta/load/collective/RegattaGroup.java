package io.regatta.load.collective;

import io.regatta.core.collective.schedule.Reach;
import io.regatta.load.process.WorkerProcess;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Regatta's ranks, each in a process of its own or all in one; or with an aggregator in one more, which sums for them.
 */
final class RegattaGroup implements Contender {
  static final String PROCESSES = "regatta";
  static final String UNIX = "regatta-unix";
  static final String SHARED = "regatta-shared";
  /** Ranks with shared memory whose tensors lie in memory that the others read in place. */
  static final String LENT = "regatta-lent";
  static final String HANDOVER = "regatta-handover";
  static final String AGGREGATED = "regatta-aggregated";

  /** Returns, of the kinds that differ only in the way of messages, the default of ranks at this distance. */
  static String of(Reach reach) {
    return switch (reach) {
      case PROCESS -> HANDOVER;
      case MACHINE -> SHARED;
      case NETWORK -> PROCESSES;
    };
  }

  /** All kinds. */
  static final List<String> KINDS = List.of(PROCESSES, UNIX, SHARED, LENT, AGGREGATED, HANDOVER);

  private final String kind;
  private final int ranks;
  /** Processes of ranks. */
  private final List<WorkerProcess> workers = new ArrayList<>();
  /** Null if there is none. */
  private WorkerProcess aggregator;
  private final JsonArray aggregators = new JsonArray();

  /** Starts the processes and forms the group with the table that is shipped. */
  RegattaGroup(String kind, int ranks) throws IOException {
    this.kind = kind;
    this.ranks = ranks;
    int here = kind.equals(HANDOVER) ? ranks : 1;
    try {
      if (kind.equals(AGGREGATED)) {
        aggregator = WorkerProcess.start("allreduce aggregator",
            new JsonObject().put("driver", "allreduce").put("here", 0).put("transport", Transport.GRPC.name()));
        aggregators.add(aggregator.ask(new JsonObject().put("do", "aggregate")).getString("endpoint"));
      }
      for (int r = 0; r < ranks; r += here) {
        workers.add(WorkerProcess.start("allreduce " + kind + " rank " + r,
            new JsonObject().put("driver", "allreduce").put("here", here)
                .put("transport", transport().name()).put("lent", kind.equals(LENT))));
      }
      form(null);
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private Transport transport() {
    return switch (kind) {
      case HANDOVER -> Transport.AUTO;
      case UNIX -> Transport.GRPC_UNIX;
      case SHARED, LENT -> Transport.GRPC_SHARED;
      default -> Transport.GRPC;
    };
  }

  /** Forms the group anew. @param choices table as text; null for the one that is shipped */
  void form(String choices) {
    JsonArray endpoints = new JsonArray();
    for (JsonObject listening : all(new JsonObject().put("do", "listen").put("choices", choices))) {
      endpoints.addAll(listening.getJsonArray("endpoints"));
    }
    for (int w = 0; w < workers.size(); w++) {
      workers.get(w).tell(new JsonObject().put("do", "form").put("endpoints", endpoints).put("aggregators", aggregators)
          .put("rank", w * (ranks / workers.size())));
    }
    workers.forEach(worker -> worker.answer("to form a group"));
  }

  /** Makes all processes run it at the same time. */
  private List<JsonObject> all(JsonObject command) {
    workers.forEach(worker -> worker.tell(command));
    return workers.stream().map(worker -> worker.answer(command.encode())).toList();
  }

  @Override
  public String kind() {
    return kind;
  }

  @Override
  public int ranks() {
    return ranks;
  }

  @Override
  public Calls run(int bytes, int times) {
    all(new JsonObject().put("do", "run").put("bytes", bytes).put("times", times / 4 + 2));
    List<JsonObject> answers = all(new JsonObject().put("do", "run").put("bytes", bytes).put("times", times));
    JsonObject first = answers.get(0);
    return new Calls(first.getDouble("median"), first.getDouble("inside"),
        answers.stream().mapToDouble(a -> a.getDouble("cpu")).sum(), bytes * (double) times / 1e9);
  }

  /** Fails if a sum comes out wrong. */
  void check(int bytes) {
    all(new JsonObject().put("do", "check").put("bytes", bytes));
  }

  @Override
  public void close() {
    workers.forEach(WorkerProcess::close);
    if (aggregator != null) {
      aggregator.close();
    }
  }
}
