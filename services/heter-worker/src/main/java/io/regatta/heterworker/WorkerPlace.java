package io.regatta.heterworker;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.node.directory.Registration;
import io.regatta.protocol.client.HealthClient;
import io.regatta.protocol.heterworker.HeterWorkerGrpcService;
import io.vertx.core.Future;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * A heter worker's entry in the directory, under an index that no other one has. Immutable.
 *
 * @param index among the heter workers of the cluster
 * @param entry its registration
 */
record WorkerPlace(int index, Registration entry) {

  /** How long another heter worker with this index may take to answer before its place is taken. */
  private static final long ANSWER_MILLIS = 2000;
  private static final String REMEDY = "give each heter worker an index of its own, or none of them any (heter_worker.index), or "
      + "end that one";

  /**
   * Registers a heter worker.
   *
   * @param index configured; -1: that of its address if the directory has one, else the lowest that is free
   * @return fails with {@link Conflict} if another one answers under a configured index
   */
  static Future<WorkerPlace> take(Node node, int index, int port, String job) {
    return index >= 0 ? register(node, index, port, job)
        : node.directory().list(Directory.HETER_WORKER).compose(known -> known.stream()
            .filter(other -> other.host().equals(node.host()) && other.controlPort() == port).findFirst()
            .map(same -> register(node, same.index(), port, job))
            .orElseGet(() -> lowest(node, 0, port, job)));
  }

  /** Tries one index after the other: each that is taken is that of a living heter worker. */
  private static Future<WorkerPlace> lowest(Node node, int index, int port, String job) {
    return register(node, index, port, job)
        .recover(e -> e instanceof Conflict ? lowest(node, index + 1, port, job) : Future.failedFuture(e));
  }

  private static Future<WorkerPlace> register(Node node, int index, int port, String job) {
    return node.directory().registerSole(new Instance(Directory.HETER_WORKER, UUID.randomUUID().toString(), index, node.host(), port,
            node.clock().epochMillis(), Map.of("job", job)), other -> answers(node, other), REMEDY)
        .map(entry -> new WorkerPlace(index, entry));
  }

  private static Future<Boolean> answers(Node node, Instance other) {
    HealthClient health = new HealthClient(node.network(), other.host(), other.controlPort());
    return health.serves(HeterWorkerGrpcService.SERVICE_NAME).timeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS)
        .map(serving -> true).eventually(health::close);
  }
}
