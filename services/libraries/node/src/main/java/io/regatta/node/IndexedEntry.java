package io.regatta.node;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.node.directory.Registration;
import io.regatta.protocol.client.HealthClient;
import io.vertx.core.Future;
import io.vertx.grpc.common.ServiceName;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The entry of a process in the directory, under an index that no other process of its service has. Immutable.
 *
 * @param index among the processes of the service in the cluster
 * @param entry its registration
 */
public record IndexedEntry(int index, Registration entry) {

  /** How long another process with this index may take to answer before its place is taken. */
  private static final long ANSWER_MILLIS = 2000;

  /**
   * A process that registers.
   *
   * @param service name in the directory
   * @param health the gRPC service that answers for its health
   * @param port on the node's host
   * @param attributes of its entry
   */
  public record Applicant(Node node, String service, ServiceName health, int port, Map<String, String> attributes) {

    private Future<IndexedEntry> register(int index) {
      String called = service.replace('-', ' ');
      return node.directory().registerSole(new Instance(service, UUID.randomUUID().toString(), index, node.host(), port,
              node.clock().epochMillis(), attributes), this::answers, "give each " + called
                  + " an index of its own, or none of "
              + "them any (" + Sections.of(service) + ".index), or end that one")
          .map(entry -> new IndexedEntry(index, entry));
    }

    private Future<Boolean> answers(Instance other) {
      HealthClient client = new HealthClient(node.network(), other.host(), other.controlPort());
      return client.serves(health).timeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS).map(serving -> true)
          .eventually(client::close);
    }

    /** Tries one index after the other: each that is taken is that of a living process. */
    private Future<IndexedEntry> lowest(int index) {
      return register(index).recover(e -> e instanceof Conflict ? lowest(index + 1) : Future.failedFuture(e));
    }
  }

  /**
   * Registers a process.
   *
   * @param index configured; -1: that of its address if the directory has one, else the lowest that is free
   * @return fails with {@link Conflict} if another process answers under a configured index
   */
  public static Future<IndexedEntry> take(Applicant applicant, int index) {
    Node node = applicant.node();
    return index >= 0 ? applicant.register(index) : node.directory().list(applicant.service())
        .compose(known -> known.stream()
        .filter(other -> other.host().equals(node.host()) && other.controlPort() == applicant.port()).findFirst()
        .map(same -> applicant.register(same.index())).orElseGet(() -> applicant.lowest(0)));
  }
}
