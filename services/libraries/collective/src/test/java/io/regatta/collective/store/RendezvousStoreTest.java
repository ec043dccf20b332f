package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;

import io.regatta.node.Node;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;

/** In a group with a member, at a real rendezvous service. */
class RendezvousStoreTest extends StoreContract {
  private RendezvousVerticle service;

  @Override
  Store client() {
    if (service == null) {
      service = new RendezvousVerticle(Node.embedded(vertx, new HazelcastDirectory(vertx, new Waits(), 10), "test"),
          RendezvousConfig.defaults());
      get(vertx.deployVerticle(service));
      get(new RendezvousClient(new VertxNetwork(vertx), "127.0.0.1", service.port()).join("g", 1, 0, "member", "", 10_000));
    }
    return new RendezvousStore(new RendezvousClient(new VertxNetwork(vertx), "127.0.0.1", service.port()), "g");
  }
}
