package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.address.HostPort;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.testing.Certificates;
import io.regatta.rendezvous.http.HttpStoreConfig;
import io.regatta.rendezvous.http.KeyValueServer;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Against the servers of the rendezvous. */
class HttpStoreTest {
  private static HttpStoreConfig config() {
    return HttpStoreConfig.defaults().with(s -> s.glooPort(0).launchPort(0).keys(1000).valueBytes(Store.VALUE_BYTES));
  }

  @Nested
  class Gloo extends StoreContract {
    private HostPort server;

    @Override
    Store client() {
      if (server == null) {
        server = new HostPort("127.0.0.1", get(KeyValueServer.gloo(vertx, "127.0.0.1", config(), () -> 0, PeerSecurity.NONE)).port());
      }
      return HttpStore.gloo(vertx, server, "_worker");
    }

    @Test
    void aRankThatIsDoneCanStillBeReadByTheOthers() {
      HttpStore store = (HttpStore) client();
      get(store.set("0", new byte[] {1}));
      get(store.done("0"));
      assertThat(get(store.get("0"))).isPresent();
      get(store.close());
    }

    @Test
    void aServerThatStartsLateIsWaitedFor_andOneThatNeverComesIsExplained() {
      int port = FreePorts.one();
      HttpStore store = HttpStore.gloo(vertx, new HostPort("127.0.0.1", port), "late");
      assertThatThrownBy(() -> get(store.await(List.of("0"), Duration.ofMillis(100)))).isInstanceOf(PeerLost.class)
          .hasMessageContaining("connection refused").hasMessageContaining("127.0.0.1:" + port);
      var waiting = store.await("0", Duration.ofSeconds(20));
      HttpStoreConfig late = HttpStoreConfig.defaults()
          .with(s -> s.glooPort(port).keys(10).valueBytes(10).storeBytes(100).idleSeconds(60));
      get(KeyValueServer.gloo(vertx, "127.0.0.1", late, () -> 0, PeerSecurity.NONE));
      get(store.set("0", new byte[] {7}));
      assertThat(get(waiting)).containsExactly(7);
      get(store.close());
    }

    /** PaddlePaddle's clients have neither; the error for Regatta's names the key. */
    @Test
    void whereTheProcessHasTlsAndATokenWhoHasNeitherIsShutOut_unlessTheStoreIsOpen() {
      PeerSecurity security = Certificates.ofThisJvm();
      HostPort secured = at(get(KeyValueServer.gloo(vertx, "127.0.0.1", config(), () -> 0, security)));
      HttpStore store = HttpStore.gloo(vertx, secured, "s", security);
      get(store.set("0", new byte[] {7}));
      assertThat(get(store.get("0"))).hasValueSatisfying(value -> assertThat(value).containsExactly(7));
      get(store.close());
      HttpStore plain = HttpStore.gloo(vertx, secured, "s");
      assertThatThrownBy(() -> get(plain.get("0"))).isInstanceOf(PeerLost.class).hasMessageContaining("node.tls");
      get(plain.close());
      HostPort token = at(get(KeyValueServer.gloo(vertx, "127.0.0.1", config(), () -> 0, security.withoutTls())));
      HttpStore without = HttpStore.gloo(vertx, token, "s");
      assertThatThrownBy(() -> get(without.set("0", new byte[1]))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("401").hasMessageContaining("without the job's token");
      get(without.close());
      HttpStoreConfig c = config();
      HostPort open = at(get(KeyValueServer.gloo(vertx, "127.0.0.1", c.withOpen(true), () -> 0, security)));
      HttpStore anybody = HttpStore.gloo(vertx, open, "s");
      get(anybody.set("0", new byte[1]));
      get(anybody.close());
    }

    /** More requests at once than the store has connections, and a server that starts again between them. */
    @Test
    void withoutTlsTheTokenIsProvedAndNotSent() {
      PeerSecurity job = PeerSecurity.of(null, Token.of("the-token-of-this-job", "a test"));
      KeyValueServer first = get(KeyValueServer.gloo(vertx, "127.0.0.1", config(), () -> 0, job));
      HostPort server = at(first);
      HttpStore store = HttpStore.gloo(vertx, server, "s", job);
      List<Future<Void>> puts = IntStream.range(0, 40).mapToObj(i -> store.set("k" + i, new byte[] {(byte) i}))
          .toList();
      get(Future.join(puts));
      assertThat(get(store.get("k39"))).hasValueSatisfying(value -> assertThat(value).containsExactly(39));
      get(first.close());
      HttpStoreConfig c = config();
      get(KeyValueServer.gloo(vertx, "127.0.0.1", c.withGlooPort(server.port()), () -> 0, job));
      get(store.set("k", new byte[] {1}));
      assertThat(get(store.get("k"))).isPresent();
      get(store.close());
      HttpStore other = HttpStore.gloo(vertx, server, "s", PeerSecurity.of(null, Token.of("another-token-than-that",
          "a test")));
      assertThatThrownBy(() -> get(other.get("k"))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(server + "/s/ does not prove that it knows the job's token");
      get(other.close());
    }

    private HostPort at(KeyValueServer server) {
      return new HostPort("127.0.0.1", server.port());
    }

    /** PaddlePaddle's own server passes over conditions; here by one that says yes to everything. */
    @Test
    void paddlesOwnServerIsNotTakenForOneThatKnowsConditions() {
      HttpServer paddle = get(vertx.createHttpServer().requestHandler(r -> r.response().end()).listen(0, "127.0.0.1"));
      HttpStore store = HttpStore.gloo(vertx, new HostPort("127.0.0.1", paddle.actualPort()), "_worker");
      get(store.set("0", new byte[0]));
      assertThatThrownBy(() -> get(store.compareAndSet("0", Optional.empty(), new byte[0])))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("rendezvous.http");
      get(store.close());
    }
  }

  @Nested
  class Launch extends StoreContract {
    private HostPort server;

    @Override
    Store client() {
      if (server == null) {
        server = new HostPort("127.0.0.1", get(KeyValueServer.launch(vertx, "127.0.0.1", config(), () -> 0, PeerSecurity.NONE)).port());
      }
      return HttpStore.launch(vertx, server, "job");
    }

    @Override
    @Test
    void valuesAreBytes() {
      Store store = client();
      assertThatThrownBy(() -> get(store.set("k", new byte[] {(byte) 0xff}))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("UTF-8");
      get(store.close());
    }
  }
}
