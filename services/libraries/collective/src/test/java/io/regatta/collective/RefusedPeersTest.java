package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.TlsConfig;
import io.regatta.node.address.HostPort;
import io.regatta.node.admin.Waits;
import io.regatta.node.process.PlainVertx;
import io.regatta.node.settings.Settings;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ports at which ranks meet and exchange, of a process with TLS and a token: each refuses who lacks one of the two. */
class RefusedPeersTest {
  private static final Vertx VERTX = Vertx.vertx(PlainVertx.options());
  private static final String TOKEN = "the-token-of-this-job";

  @TempDir
  static Path dir;
  private static PeerSecurity peer;
  private static PeerSecurity withoutToken;
  private static Node node;
  private static RendezvousVerticle rendezvous;
  private static CollectivePort ranks;

  @BeforeAll
  static void open() throws Exception {
    Pem pem = new Certificates(dir).issue("ca", "node");
    peer = PeerSecurity.of(pem.files(), Token.of(TOKEN, "a test"));
    withoutToken = PeerSecurity.of(pem.files(), Token.NONE);
    Path token = SecretFiles.write(dir.resolve("token"), TOKEN);
    NodeConfig config = NodeConfig.defaults().withTls(new TlsConfig(pem.certificate().toString(), pem.key().toString(),
        pem.ca().toString(), true, true, 0)).withTokenFile(token.toString());
    node = get(Node.embedded(VERTX, null, config, "trainer"));
    rendezvous = new RendezvousVerticle(node, Settings.bind(new JsonObject().put("http", new JsonObject().put("gloo_port", 0)
        .put("launch_port", 0)), RendezvousConfig.class));
    get(VERTX.deployVerticle(rendezvous));
    ranks = get(CollectivePort.listen(node, CollectiveOptions.defaults()));
  }

  @AfterAll
  static void close() {
    get(ranks.close());
    get(node.close());
    get(VERTX.close());
  }

  private static StreamOptions options(PeerSecurity client) {
    return StreamOptions.defaults().withTransport(Transport.GRPC).withSecurity(client);
  }

  private static Future<?> call(PeerSecurity client) {
    RendezvousClient calls = new RendezvousClient(new VertxNetwork(VERTX, options(client)), "127.0.0.1", rendezvous.port());
    return calls.groups().eventually(calls::close);
  }

  /** Sends a first message on a stream, and returns the error. */
  private static RegattaException stream(PeerSecurity client) {
    Promise<RegattaException> failed = Promise.promise();
    VERTX.runOnContext(v -> Future.succeededFuture().compose(u -> new TensorStreamClient(VERTX, options(client)).open("127.0.0.1",
        HostPort.parse(ranks.endpoint(), "a test").port(), StreamPaths.COLLECTIVE)).onSuccess(stream -> {
          stream.exceptionHandler(failed::tryComplete).handler(frame -> failed.tryFail("an answer"));
          stream.send(TensorFrame.of(TensorMessage.getDefaultInstance()));
        }).onFailure(e -> failed.complete((RegattaException) e)));
    return get(failed.future());
  }

  private static Future<Integer> put(int port, PeerSecurity client, String token) {
    HttpClientAgent http = VERTX.createHttpClient(client.client(new HttpClientOptions()));
    return http.request(HttpMethod.PUT, port, "127.0.0.1", "/scope/key").compose(request -> {
          if (token != null) {
            request.putHeader(Token.HEADER, "Bearer " + token);
          }
          return request.send("value");
        }).map(HttpClientResponse::statusCode).eventually(http::close); // one that nobody holds may be closed before
  }

  @Test
  void at_the_rendezvous() {
    get(call(peer));
    assertThatThrownBy(() -> get(call(withoutToken))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("refuses a call without the job's token");
    assertThatThrownBy(() -> get(call(PeerSecurity.NONE))).isInstanceOf(RegattaException.class).hasMessageContaining("node.tls");
  }

  @Test
  void at_the_key_value_servers() {
    for (int port : new int[] {rendezvous.glooPort(), rendezvous.launchPort()}) {
      assertThat(get(put(port, peer, TOKEN))).isEqualTo(200);
      assertThat(get(put(port, withoutToken, null))).isEqualTo(401);
      assertThat(get(put(port, withoutToken, "another-token-than-the-job's"))).isEqualTo(401);
      assertThatThrownBy(() -> get(put(port, PeerSecurity.NONE, TOKEN))).isNotNull();
    }
  }

  @Test
  void at_the_port_of_a_rank() {
    assertThat(stream(peer)).as("it says no more than that").hasMessageNotContaining("token");
    assertThat(stream(withoutToken)).isInstanceOf(InvalidInput.class).hasMessageContaining("refuses a call without the job's token");
    assertThat(stream(PeerSecurity.NONE)).hasMessageContaining("node.tls");
  }

  private static CollectiveOptions with(PeerSecurity security) {
    return CollectiveOptions.defaults().withStream(StreamOptions.defaults().withSecurity(security));
  }

  /** A program without a node has no configuration that would have been refused. */
  @Test
  void listensBeyondLoopback_whenTheOptionsHaveATokenOrPermission() {
    PeerSecurity token = PeerSecurity.of(null, Token.of(TOKEN, "a test"));
    assertThatThrownBy(() -> get(CollectivePort.listen(VERTX, "0.0.0.0", with(PeerSecurity.NONE), new Waits())))
        .isInstanceOf(InvalidInput.class).hasMessageContainingAll("a rank of collective calls would listen on 0.0.0.0",
            "without a token", "PeerSecurity.NONE.open()");
    for (PeerSecurity enough : new PeerSecurity[] {token, withoutToken, PeerSecurity.NONE.open()}) {
      get(get(CollectivePort.listen(VERTX, "0.0.0.0", with(enough), new Waits())).close());
    }
  }
}
