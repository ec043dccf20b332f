package io.regatta.node.directory;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import io.regatta.node.admin.Waits;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * A directory read from configuration: every endpoint is known beforehand, nothing is published. Endpoints that it
 * learns later take precedence. Any thread.
 */
public final class FixedDirectory extends WaitingDirectory {

  private final Map<String, List<Instance>> instances = new ConcurrentHashMap<>();

  /** @param endpoints service name to comma-separated {@code host:port}, in index order */
  public FixedDirectory(Vertx vertx, Waits waits, Map<String, String> endpoints) {
    super(vertx, waits);
    endpoints.forEach(this::learn);
  }

  /**
   * The instances that a configuration names.
   *
   * @param list comma-separated {@code host:port}, in index order
   * @throws InvalidInput if one is neither
   */
  public static List<Instance> parse(String service, String list) {
    List<Instance> out = new ArrayList<>();
    for (String endpoint : list.split(",")) {
      HostPort at = HostPort.parse(endpoint, "endpoints." + service);
      out.add(new Instance(service, service + "-" + out.size(), out.size(), at.host(), at.port(), 0, Map.of()));
    }
    return List.copyOf(out);
  }

  @Override
  public void learn(String service, String endpoints) {
    instances.put(service, parse(service, endpoints));
  }

  /** Checks that the configuration agrees where it names the service; nothing is published. */
  @Override
  public Future<Registration> register(Instance instance) {
    List<Instance> configured = instances.get(instance.service());
    if (configured != null && instance.index() >= 0 && instance.index() < configured.size()
        && configured.get(instance.index()).controlPort() != instance.controlPort()) {
      return Future.failedFuture(new InvalidInput(instance.service() + " " + instance.index() + " listens on port "
          + instance.controlPort() + ", but cluster.endpoints says " + configured.get(instance.index()).endpoint()
          + ": give it that port"));
    }
    return Future.succeededFuture(Future::succeededFuture);
  }

  @Override
  public Future<Registration> registerSole(Instance instance, Function<Instance, Future<Boolean>> answers,
      String remedy) {
    return register(instance);
  }

  @Override
  public Future<List<Instance>> list(String service) {
    return Future.succeededFuture(instances.getOrDefault(service, List.of()));
  }

  @Override
  Future<List<Instance>> poll(String service) {
    return list(service);
  }

  @Override
  public Future<Void> close() {
    return endWaits();
  }
}
