package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;

import io.regatta.core.collective.schedule.Choices;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Ranks of one group in this JVM, each with its own port. Used by the test's thread. */
final class LocalGroup implements AutoCloseable {
  final Waits waits = new Waits();
  final List<CollectivePort> ports = new ArrayList<>();
  List<Collectives> ranks;

  LocalGroup(Vertx vertx, int size, Transport transport) {
    this(vertx, Collections.nCopies(size, "127.0.0.1"), transport, Choices.defaults());
  }

  /** @param hosts of each rank, loopback addresses */
  LocalGroup(Vertx vertx, List<String> hosts, Transport transport, Choices choices) {
    this(vertx, hosts, transport, choices, List.of());
  }

  /** @param aggregators endpoints of who sums for them */
  LocalGroup(Vertx vertx, List<String> hosts, Transport transport, Choices choices, List<String> aggregators) {
    CollectiveOptions options = CollectiveOptions.defaults().withFailureTimeoutMillis(3000).withChoices(choices)
        .withStream(StreamOptions.defaults().withTransport(transport));
    for (String host : hosts) {
      ports.add(get(CollectivePort.listen(vertx, host, options, waits)));
    }
    ranks = form(1, ports, aggregators);
  }

  /** These form a generation. */
  static List<Collectives> form(long generation, List<CollectivePort> ports) {
    return form(generation, ports, List.of());
  }

  private static List<Collectives> form(long generation, List<CollectivePort> ports, List<String> aggregators) {
    List<String> endpoints = ports.stream().map(CollectivePort::endpoint).toList();
    return get(Future.all(IntStream.range(0, ports.size())
        .mapToObj(r -> ports.get(r).form(new Membership("census", generation, r, endpoints, aggregators))).toList())).list();
  }

  /** All make this call. */
  List<Future<Void>> all(Function<Collectives, Future<Void>> call) {
    return ranks.stream().map(call).toList();
  }

  @Override
  public void close() {
    get(Future.join(ports.stream().map(CollectivePort::close).toList()));
  }
}
