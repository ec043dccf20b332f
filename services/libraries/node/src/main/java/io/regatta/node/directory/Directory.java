package io.regatta.node.directory;

import io.regatta.node.address.HostPort;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The register of service instances: small facts that their owners publish, each with a lease. An entry shows an
 * address to ask, not that its owner is alive; the rendezvous alone declares losses. Any thread; futures complete on
 * the caller's context if it has one.
 */
public interface Directory {

  /** Service names, as used in entries, messages and configuration. */
  String RENDEZVOUS = "rendezvous";
  String PARAMETER_SERVER = "parameter-server";
  String GRADIENT_AGGREGATOR = "gradient-aggregator";
  String TRAINER = "trainer";
  String HETER_WORKER = "heter-worker";
  String PREDICTOR = "predictor";

  /** All service names. */
  List<String> SERVICES = List.of(RENDEZVOUS, PARAMETER_SERVER, GRADIENT_AGGREGATOR, TRAINER, HETER_WORKER, PREDICTOR);

  /** Attribute that the Hazelcast directory adds to every entry: the process id of its owner. */
  String PID = "pid";

  /**
   * One running service instance.
   *
   * @param service one of the service names
   * @param id unique per service instance, over all processes and incarnations
   * @param index place among the instances of its service (server index, rank), -1 if it has none
   * @param host where it can be reached
   * @param controlPort its gRPC control port
   * @param incarnation greater for a later start of the same instance; 0 in a fixed directory, which cannot know
   * @param attributes small extras, e.g. the host that an aggregator serves
   */
  record Instance(String service, String id, int index, String host, int controlPort, long incarnation,
      Map<String, String> attributes) {

    public Instance {
      attributes = Map.copyOf(attributes);
    }

    /** Returns a copy with one more attribute. */
    Instance with(String name, String value) {
      Map<String, String> more = new HashMap<>(attributes);
      more.put(name, value);
      return new Instance(service, id, index, host, controlPort, incarnation, more);
    }

    /** Returns {@code host:port} of the control port. */
    public String endpoint() {
      return new HostPort(host, controlPort).toString();
    }
  }

  /**
   * Publishes an instance, and renews its lease until the registration is closed. One with the same id is replaced.
   * Waits while the directory's store has no member that holds data.
   */
  Future<Registration> register(Instance instance);

  /**
   * Publishes an instance that must be the only one of its service with its index. If several come at once, one gets
   * the index. The entry of a holder at the same address (a former life of this one), or of one that does not answer,
   * is replaced. A holder that was frozen and resumes asks its successor. If that one answers, the former holder logs
   * it, completes {@link Registration#lost}, and leaves it the index; otherwise it takes the index back. A fixed
   * directory publishes nothing and cannot tell.
   *
   * @param answers whether the holder of this entry lives: asks it, and ends within a few seconds; a failure means no
   * @param remedy the advice about a holder that lives, for the message
   * @return fails with {@link io.regatta.core.error.RegattaException.Conflict}, naming the holder's address, if one
   *     lives
   */
  Future<Registration> registerSole(Instance instance, Function<Instance, Future<Boolean>> answers, String remedy);

  /** Returns the instances of a service whose leases are valid, by index, then id. They need not be alive. */
  Future<List<Instance>> list(String service);

  /**
   * Waits until an instance of each index from 0 to {@code count - 1} is registered and accepts connections on its
   * control port. If there are several for one index (a dead one's entry lasts for its lease), only the latest started
   * counts. The wait is logged at once and every 3 s: the lines {@code server not ready, wait 3 sec to retry...} and
   * {@code not ready endpoints:[...]}, then the cause for each. {@code /why} shows it as well.
   *
   * @param who the process that waits, e.g. {@code trainer 0}
   * @return one instance for each index, by index; fails with {@link io.regatta.core.error.RegattaException.PeerLost}
   *     at the timeout and {@link io.regatta.core.error.RegattaException.Cancelled} when the directory is closed
   */
  Future<List<Instance>> await(String service, int count, Duration timeout, String who);

  /**
   * Waits as {@link #await} for any instance, whatever its index. Returns all that accept connections, the latest
   * started first.
   */
  Future<List<Instance>> awaitAny(String service, Duration timeout, String who);

  /** Returns the same instances, the latest started first: a dead one may still be listed until its lease ends. */
  static List<Instance> latestFirst(List<Instance> instances) {
    return instances.stream().sorted(Comparator.comparingLong(Instance::incarnation).reversed()).toList();
  }

  /**
   * Checks whether the directory's store answers now. Fails if it does not, or has no member that holds data. No
   * retries.
   */
  default Future<Void> reachable() {
    return list(RENDEZVOUS).mapEmpty();
  }

  /**
   * Learns the instances of a service from a process that knows them. A directory over a store ignores it, because the
   * store knows better.
   *
   * @param endpoints comma-separated {@code host:port}, in index order
   */
  default void learn(String service, String endpoints) {
  }

  /** Ends waits and removes the registrations made through this object. */
  Future<Void> close();
}
