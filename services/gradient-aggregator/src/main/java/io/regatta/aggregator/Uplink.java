package io.regatta.aggregator;

import io.regatta.core.exchange.JobSpec;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.ShardAddresses;
import io.regatta.node.group.GroupWatch;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.function.LongSupplier;

/** The connections of an aggregator to shards and rendezvous; owned by the verticle's event loop. */
final class Uplink {
  private final Context context;
  private final Directory directory;
  private final AggregatorConfig config;
  private final StreamOptions options;
  private final Network network;
  private final TensorStreamClient client;
  private final ShardAddresses addresses;

  /** @param options of streams, with the TLS and the token of the process */
  Uplink(Vertx vertx, Context context, Directory directory, AggregatorConfig config, StreamOptions options) {
    this.context = context;
    this.directory = directory;
    this.config = config;
    this.options = options;
    network = new VertxNetwork(vertx, StreamOptions.defaults().withSecurity(options.security()));
    client = new TensorStreamClient(vertx, options);
    addresses = new ShardAddresses(directory, network, config.lookupMs());
  }

  /** Returns a connection to one shard for one job; not open yet. */
  ShardConnection connection(JobSpec job, int shard, LongSupplier generation) {
    return new ShardConnection(context, job, shard, addresses, client, generation, options);
  }

  /** Finds the shard, as the trainers know it; see {@link ShardAddresses#find}. */
  Future<Shard> find(int shard, long incarnation) {
    return addresses.find(shard, incarnation);
  }

  /** Returns a watch on a job's group; not started yet. */
  GroupWatch watch(String job, GroupWatch.Follower follower) {
    return new GroupWatch(VertxLoop.of(context), directory, network, job, "the aggregator", config.retryMs(), follower);
  }

  AggregatorConfig.Limits limits() {
    return config.limits();
  }

  /** Closes all connections to shards; pushes under way fail. */
  Future<Void> close() {
    return client.close();
  }
}
