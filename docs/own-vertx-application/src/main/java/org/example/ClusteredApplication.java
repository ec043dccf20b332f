package org.example;

import com.hazelcast.cluster.Address;
import com.hazelcast.config.Config;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Vertx;
import io.vertx.spi.cluster.hazelcast.ConfigUtil;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;

/** An application with a clustered Vertx and an HTTP service of its own, which hosts Regatta's services as well. */
public final class ClusteredApplication {

  /** @param args name of the Hazelcast cluster, and the file with the token that Regatta's processes show */
  public static void main(String[] args) {
    Config hazelcast = ConfigUtil.loadConfig().setClusterName(args[0]); // all else as it comes
    HazelcastClusterManager manager = new HazelcastClusterManager(hazelcast);
    Vertx.builder().withClusterManager(manager).buildClustered()
        .onSuccess(vertx -> start(vertx, manager, args[1]))
        .onFailure(ClusteredApplication::end);
  }

  private static void start(Vertx vertx, HazelcastClusterManager manager, String tokenFile) {
    NodeConfig config = NodeConfig.defaults().withTokenFile(tokenFile);
    Node.embedded(vertx, null, config, "my-application") // null: the directory of this Vertx's cluster
        .compose(node -> vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults()))
            .compose(id -> vertx.deployVerticle(new ParameterServerVerticle(node, ParameterServerConfig.defaults()))))
        .compose(id -> vertx.createHttpServer()
            .requestHandler(request -> request.response().end("my application\n"))
            .listen(0))
        .onSuccess(http -> {
          Address member = manager.getHazelcastInstance().getCluster().getLocalMember().getAddress();
          System.out.println(
              "ready member=" + member.getHost() + ":" + member.getPort() + " http=" + http.actualPort());
        })
        .onFailure(ClusteredApplication::end);
  }

  private static void end(Throwable failure) {
    failure.printStackTrace();
    System.exit(1);
  }
}
