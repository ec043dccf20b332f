package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.address.HostPort;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.testing.Certificates;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Members that are not there, fail or refuse; in one JVM, with {@link EtcdGateway} for the ones that answer. */
@ExtendWith(BlockedLoopGuard.class)
class EtcdStoreFaultsTest {
  private final Vertx vertx = Vertx.vertx();
  private final EtcdGateway gateway = new EtcdGateway();

  @AfterEach
  void close() {
    get(vertx.close());
  }

  private Store store(PeerSecurity security, HostPort... members) {
    return new EtcdStore(vertx, new EtcdEndpoints(List.of(members), "regatta"), security);
  }

  private Store store(HostPort... members) {
    return store(PeerSecurity.NONE, members);
  }

  private static HostPort nobody() {
    return new HostPort("127.0.0.1", FreePorts.one());
  }

  private HostPort serving(Handler<HttpServerRequest> handler) {
    return new HostPort("127.0.0.1",
        get(vertx.createHttpServer().requestHandler(handler).listen(0, "127.0.0.1")).actualPort());
  }

  @Test
  void aMemberThatIsNotThereIsPassedOver_alsoByWrites() {
    Store store = store(nobody(), nobody(), gateway.member(vertx));
    get(store.set("k", new byte[] {1}));
    assertThat(get(store.compareAndSet("k", Optional.of(new byte[] {1}), new byte[] {2}))).isTrue();
    assertThat(get(store.delete("k"))).isTrue();
  }

  @Test
  void theErrorNamesEachMemberAndWhatToDo_andAWaitLastsUntilOneStarts() {
    HostPort one = nobody();
    HostPort other = nobody();
    Store store = store(one, other);
    assertThatThrownBy(() -> get(store.set("k", new byte[1]))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("store at etcd:" + one + "," + other + "/regatta did not carry out the put of key k")
        .hasMessageContaining(one + ": connection refused").hasMessageContaining(other + ": connection refused")
        .hasMessageEndingWith("name endpoints of a running cluster").hasMessageNotContaining("\n");
    assertThatThrownBy(() -> get(store.await("k", Duration.ofMillis(100)))).isInstanceOf(PeerLost.class)
        .hasMessageContaining(one + ": connection refused");
    var waiting = store.await("k", Duration.ofSeconds(20));
    gateway.listen(vertx, other.port(), PeerSecurity.NONE);
    get(store.set("k", new byte[] {7}));
    assertThat(get(waiting)).containsExactly(7);
  }

  /** A member without a leader answers this way, and may have passed a write on. */
  @Test
  void aMemberThatFailsIsPassedOverByReads_andAWriteIsNotRepeated() {
    AtomicInteger asked = new AtomicInteger();
    Handler<HttpServerRequest> leaderless = request -> {
      asked.incrementAndGet();
      request.response().setStatusCode(503).end("{\"code\":14, \"message\":\"etcdserver: request timed out\"}");
    };
    HostPort failing = serving(leaderless);
    HostPort healthy = gateway.member(vertx);
    assertThat(get(store(failing, healthy).get("k"))).isEmpty();
    assertThat(asked).hasValue(1);
    Store store = store(failing, healthy);
    assertThatThrownBy(() -> get(store.set("k", new byte[1]))).isInstanceOf(PeerLost.class)
        .hasMessageContaining(failing + ": etcdserver: request timed out").hasMessageNotContaining(healthy + ": ");
    assertThat(get(store.get("k"))).isEmpty();
    get(store.set("k", new byte[1]));
    assertThat(asked).as("the other member is asked first from then on").hasValue(2);
  }

  @Test
  void aConnectionThatBreaksAfterTheRequest_failsAWriteAndNotARead() {
    HostPort breaking = serving(request -> request.connection().close());
    HostPort healthy = gateway.member(vertx);
    get(store(healthy).set("k", new byte[] {1}));
    assertThatThrownBy(() -> get(store(breaking, healthy).set("k", new byte[] {2}))).isInstanceOf(PeerLost.class)
        .hasMessageContaining(breaking + ": ").hasMessageNotContaining(healthy + ": ");
    assertThat(get(store(breaking, healthy).get("k")))
        .hasValueSatisfying(value -> assertThat(value).containsExactly(1));
  }

  @Test
  void aMemberThatDoesNotAnswerIsPassedOverByReads_andFailsAWriteInTime() {
    HostPort silent = serving(request -> { });
    EtcdEndpoints both = new EtcdEndpoints(List.of(silent, gateway.member(vertx)), "regatta");
    assertThat(get(new EtcdStore(vertx, both, PeerSecurity.NONE, 5000).get("k"))).isEmpty();
    assertThatThrownBy(() -> get(new EtcdStore(vertx, both, PeerSecurity.NONE, 100).delete("k")))
        .isInstanceOf(PeerLost.class)
        .hasMessageContaining("the delete of key k: " + silent + ": no answer within 100 ms");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "400 | {\"code\":3, \"message\":\"etcdserver: request is too large\"} | InvalidInput | too large: look at",
      "401 | {\"code\":16, \"message\":\"etcdserver: invalid auth token\"} | InvalidInput | users of etcd are",
      "404 | 404 page not found | InvalidInput | --enable-grpc-gateway=false",
      "429 | {\"code\":8, \"error\":\"etcdserver: mvcc: database space exceeded\"} | Overloaded | etcdctl alarm disarm",
      "200 | {} | InvalidInput | name the client ports",
      "200 | [] | InvalidInput | name the client ports",
      "200 | <html> | InvalidInput | name the client ports"})
  void aRefusalSaysWhatToDo(int status, String body, String error, String advice) {
    HostPort member = serving(request -> request.response().setStatusCode(status).end(body));
    Class<?> type = error.equals("Overloaded") ? Overloaded.class : InvalidInput.class;
    assertThatThrownBy(() -> get(store(member).set("k", new byte[1]))).isInstanceOf(type)
        .hasMessageContaining("store at etcd:" + member + "/regatta, member " + member + ", answered the put of key k")
        .hasMessageContaining(" with " + status)
        .hasMessageContaining(advice).hasMessageNotContaining("\n");
  }

  @Test
  void withTlsMembersAreCalledOverTls() {
    PeerSecurity security = Certificates.ofThisJvm();
    HostPort secured = new HostPort("127.0.0.1", gateway.listen(vertx, 0, security).actualPort());
    Store store = store(security, secured);
    get(store.set("k", new byte[] {7}));
    assertThat(get(store.get("k"))).hasValueSatisfying(value -> assertThat(value).containsExactly(7));
    assertThatThrownBy(() -> get(store(secured).get("k"))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("node.tls");
    HostPort plain = gateway.member(vertx);
    assertThatThrownBy(() -> get(store(security, plain).get("k"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("etcd at " + plain).hasMessageContaining("does not speak TLS");
  }

  @Test
  void afterItIsClosedAStoreRefusesCalls() {
    Store store = store(gateway.member(vertx));
    get(store.close());
    get(store.close());
    assertThatThrownBy(() -> get(store.get("k"))).isInstanceOf(Cancelled.class).hasMessageContaining("is closed");
  }
}
