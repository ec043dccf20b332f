package io.regatta.protocol.security;

import static io.regatta.protocol.stream.Loop.get;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.PemKeyCertOptions;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Refused peers, and the message for their user: the address, the reason, and what to do. */
class RefusedTest {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final Token TOKEN = Token.of("the-right-token-of-this-job", "a test");

  @TempDir
  static Path directory;
  private static Certificates certificates;
  private static Pem node;
  private static Pem stranger;

  private final Loop loop = new Loop();

  @BeforeAll
  static void make() {
    certificates = new Certificates(directory);
    node = certificates.issue("ca", "node");
    stranger = certificates.issue("strangers", "stranger");
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  private static PeerSecurity mutual(Pem pem) {
    return PeerSecurity.of(pem.files(), TOKEN);
  }

  private static PeerSecurity withoutCertificate(Pem pem) {
    return PeerSecurity.of(new TlsFiles(null, null, pem.ca(), true, true), TOKEN);
  }

  private static StreamOptions options(PeerSecurity security) {
    return StreamOptions.defaults().withTransport(Transport.GRPC).withSecurity(security);
  }

  private int serve(PeerSecurity security) throws Exception {
    return loop.serve(PATH, options(security), s -> s.handler(s::send)).actualPort();
  }

  /** As {@link #serve}, by somebody who does not look at the certificate himself. */
  private int serve(Pem pem) throws Exception {
    return get(loop.vertx.createHttpServer(new HttpServerOptions().setSsl(true).setUseAlpn(true).setKeyCertOptions(
        new PemKeyCertOptions().addCertPath(pem.certificate().toString()).addKeyPath(pem.key().toString())))
        .requestHandler(r -> r.response().end()).listen(0, "127.0.0.1")).actualPort();
  }

  /** Returns the error of a stream; a control call of the same client gets the same. */
  private RegattaException refused(int port, PeerSecurity client) throws Exception {
    RegattaException stream = stream(port, client);
    RendezvousClient calls = new RendezvousClient(new VertxNetwork(loop.vertx, options(client)), "127.0.0.1", port);
    assertThatThrownBy(() -> get(calls.groups())).hasSameClassAs(stream).hasMessageContaining("127.0.0.1:" + port);
    return stream;
  }

  private RegattaException stream(int port, PeerSecurity client) throws Exception {
    Promise<RegattaException> failed = Promise.promise();
    try {
      loop.open(port, PATH, options(client), s -> {
        s.exceptionHandler(failed::complete).handler(f -> failed.fail("an answer"));
        s.send(TensorFrame.of(TensorMessage.getDefaultInstance()));
      });
    } catch (RegattaException e) {
      return e;
    }
    return get(failed.future());
  }

  @Test
  void who_has_certificate_and_token_is_let_in() throws Exception {
    int port = serve(mutual(node));
    Promise<TensorFrame> echo = Promise.promise();
    loop.open(port, PATH, options(mutual(node)), s -> {
      s.exceptionHandler(echo::tryFail).handler(echo::complete);
      s.send(TensorFrame.of(TensorMessage.getDefaultInstance()));
    });
    assertThat(get(echo.future())).isNotNull();
  }

  @Test
  void a_server_of_another_ca() throws Exception {
    int port = serve(mutual(stranger));
    assertThat(refused(port, mutual(node))).isInstanceOf(InvalidInput.class).hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("not signed by a CA of node.tls.ca here");
  }

  @Test
  void a_server_whose_certificate_has_expired() throws Exception {
    int port = serve(certificates.issueExpired("ca", "expired"));
    assertThat(refused(port, mutual(node))).isInstanceOf(InvalidInput.class).hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("its certificate has expired: renew it there");
  }

  @Test
  void a_server_whose_certificate_is_another_hosts_unless_the_ca_is_enough() throws Exception {
    Pem other = certificates.issueFor("elsewhere.example", "ca", "elsewhere");
    int port = serve(mutual(other));
    assertThat(refused(port, mutual(node))).isInstanceOf(InvalidInput.class).hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("subject alternative names").hasMessageContaining("node.tls.verify_host: false");
    PeerSecurity byCa = PeerSecurity.of(new TlsFiles(node.certificate(), node.key(), node.ca(), true, false), TOKEN);
    loop.open(port, PATH, options(byCa), s -> { });
  }

  @Test
  void a_client_without_a_certificate() throws Exception {
    int port = serve(mutual(node));
    assertThat(refused(port, withoutCertificate(node))).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("refuses this process's certificate").hasMessageContaining("node.tls.certificate here");
  }

  @Test
  void a_client_of_another_ca() throws Exception {
    int port = serve(mutual(node));
    PeerSecurity client = PeerSecurity.of(new TlsFiles(stranger.certificate(), stranger.key(), node.ca(), true, true), TOKEN);
    assertThat(refused(port, client)).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("of a CA that it does not trust");
  }

  @Test
  void no_token_and_a_wrong_one() throws Exception {
    int port = serve(mutual(node));
    assertThat(refused(port, PeerSecurity.of(node.files(), Token.NONE))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("127.0.0.1:" + port).hasMessageContaining("refuses a call without the job's token")
        .hasMessageContaining("node.token_file or REGATTA_NODE_TOKEN");
    String secret = "another-token-than-the-right-one";
    assertThat(refused(port, PeerSecurity.of(node.files(), Token.of(secret, "a test")))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("127.0.0.1:" + port).hasMessageContaining("another token than the job's")
        .hasMessageNotContaining(secret);
  }

  @Test
  void a_token_is_wanted_on_the_socket_of_this_machine_and_by_hand() throws Exception {
    for (Transport transport : new Transport[] {Transport.GRPC_UNIX, Transport.AUTO}) {
      UnaryOperator<StreamOptions> way = o -> o.withTransport(transport);
      int port = loop.serve(PATH, way.apply(options(PeerSecurity.of(null, TOKEN))), s -> s.handler(s::send)).actualPort();
      Promise<RegattaException> failed = Promise.promise();
      loop.open(port, PATH, way.apply(options(PeerSecurity.NONE)), s -> {
        s.exceptionHandler(failed::complete).handler(f -> failed.fail("an answer"));
        s.send(TensorFrame.of(TensorMessage.getDefaultInstance()));
      });
      assertThat(get(failed.future())).isInstanceOf(InvalidInput.class).hasMessageContaining("without the job's token");
    }
  }

  @Test
  void one_side_speaks_tls_and_the_other_does_not() throws Exception {
    int tls = serve(mutual(node));
    assertThat(refused(tls, PeerSecurity.NONE)).hasMessageContaining("127.0.0.1:" + tls).hasMessageContaining("node.tls");
    int plain = serve(PeerSecurity.NONE);
    assertThat(refused(plain, mutual(node))).hasMessageContaining("127.0.0.1:" + plain).hasMessageContaining("TLS");
  }

  @Test
  void an_http_client_is_told_with_401() throws Exception {
    HttpServer server = get(loop.vertx.createHttpServer().requestHandler(PeerSecurity.of(null, TOKEN).guard(r -> r.response().end("in")))
        .listen(0, "127.0.0.1"));
    HttpClientResponse none = get(request(server, "/predict", null));
    assertThat(none.statusCode()).isEqualTo(401);
    assertThat(none.getHeader("www-authenticate")).isEqualTo("Bearer");
    assertThat(get(request(server, "/predict", "Bearer another-token")).statusCode()).isEqualTo(401);
    assertThat(get(request(server, "/predict", "bearer the-right-token-of-this-job")).statusCode()).isEqualTo(200);
    assertThat(get(request(server, "/grpc.health.v1.Health/Check", null)).statusCode()).isEqualTo(401);
  }

  /** The health service is open, but only for calls of it. */
  @Test
  void a_health_probe_is_let_through_and_nothing_that_looks_like_it() throws Exception {
    PeerSecurity security = PeerSecurity.of(null, TOKEN);
    HttpServer server = get(loop.vertx.createHttpServer().requestHandler(TensorStreamServer.withOpenHealth(
        new GrpcCalls(loop.vertx), r -> r.response().end("in"), security)).listen(0, "127.0.0.1"));
    HttpClient http2 = loop.vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
        .setHttp2ClearTextUpgrade(false));
    HttpClient http1 = loop.vertx.createHttpClient();
    String health = "/grpc.health.v1.Health/";
    for (String type : new String[] {"application/grpc", "application/grpc+proto"}) {
      assertThat(probe(http2, server, HttpMethod.POST, health + "Check", type)).as("has no message").isEqualTo("3");
      assertThat(probe(http2, server, HttpMethod.POST, health + "Watch", type)).as("has no message").isEqualTo("3");
      assertThat(probe(http2, server, HttpMethod.POST, health + "List", type)).isEqualTo("16");
      assertThat(probe(http2, server, HttpMethod.PUT, health + "Check", type)).isEqualTo("16");
      assertThat(probe(http1, server, HttpMethod.POST, health + "Check", type)).isEqualTo("16");
    }
    assertThat(probe(http2, server, HttpMethod.POST, health + "Check", "application/grpc-web")).isEqualTo("16");
    assertThat(probe(http2, server, HttpMethod.POST, health + "Check", "text/plain")).isEqualTo("HTTP 401");
    get(http1.close());
    get(http2.close()); // and nobody has closed them before, as may be done with one that nobody holds
  }

  /** The gRPC status, or the one of HTTP. */
  private static String probe(HttpClient client, HttpServer server, HttpMethod method, String path, String type) throws Exception {
    HttpClientResponse answer = get(client.request(method, server.actualPort(), "127.0.0.1", path)
        .compose(r -> r.putHeader("content-type", type).send()));
    String status = answer.getHeader("grpc-status");
    return status == null ? "HTTP " + answer.statusCode() : status;
  }

  private Future<HttpClientResponse> request(HttpServer server, String path, String authorization) {
    HttpClient client = loop.vertx.createHttpClient(new HttpClientOptions());
    return client.request(HttpMethod.GET, server.actualPort(), "127.0.0.1", path)
        .compose(r -> {
          if (authorization != null) {
            r.putHeader(Token.HEADER, authorization);
          }
          return r.send();
        }).eventually(client::close); // one that nobody holds may be closed before
  }

  @Test
  void new_files_are_shown_to_who_connects_next_and_old_ones_are_no_longer_trusted() throws Exception {
    Path certificate = Files.copy(node.certificate(), directory.resolve("now.crt"));
    Path key = Files.copy(node.key(), directory.resolve("now.key"));
    Path ca = Files.copy(node.ca(), directory.resolve("now.pem"));
    PeerSecurity server = mutual(new Pem(certificate, key, ca));
    int port = serve(server);
    loop.open(port, PATH, options(mutual(node)), s -> { });

    Files.copy(stranger.certificate(), certificate, REPLACE_EXISTING);
    get(server.reload()); // the key is still the old one's: nothing changes yet
    loop.open(port, PATH, options(mutual(node)), s -> { });

    Files.copy(stranger.key(), key, REPLACE_EXISTING);
    Files.copy(stranger.ca(), ca, REPLACE_EXISTING);
    get(server.reload());
    loop.open(port, PATH, options(mutual(stranger)), s -> { });
    assertThat(stream(port, mutual(node))).hasMessageContaining("not signed by a CA");
  }

  /** One that was made, and did not listen yet, when the files changed. */
  @Test
  void a_server_that_was_not_there_yet_has_the_new_files_at_the_next_look() throws Exception {
    Path certificate = Files.copy(node.certificate(), directory.resolve("early.crt"));
    Path key = Files.copy(node.key(), directory.resolve("early.key"));
    Path ca = Files.copy(node.ca(), directory.resolve("early.pem"));
    PeerSecurity security = mutual(new Pem(certificate, key, ca));
    HttpServer early = TensorStreamServer.create(loop.vertx, options(security)).requestHandler(TensorStreamServer.handler(loop.vertx,
        Map.of(PATH, s -> s.handler(s::send)), new GrpcCalls(loop.vertx), options(security)));
    Files.copy(stranger.certificate(), certificate, REPLACE_EXISTING);
    Files.copy(stranger.key(), key, REPLACE_EXISTING);
    Files.copy(stranger.ca(), ca, REPLACE_EXISTING);
    get(security.reload());
    int port = get(early.listen(0, "127.0.0.1")).actualPort();
    get(security.reload());
    loop.open(port, PATH, options(mutual(stranger)), s -> { });
    assertThat(stream(port, mutual(node))).hasMessageContaining("not signed by a CA");
  }

  @Test
  void a_server_that_cannot_take_the_new_files_is_named_and_asked_again() throws Exception {
    Path certificate = Files.copy(node.certificate(), directory.resolve("again.crt"));
    Path key = Files.copy(node.key(), directory.resolve("again.key"));
    PeerSecurity security = mutual(new Pem(certificate, key, node.ca()));
    AtomicInteger asked = new AtomicInteger();
    HttpServer reluctant = standIn(HttpServer.class, Map.of("actualPort", () -> 4711, "updateSSLOptions",
        () -> asked.incrementAndGet() == 1 ? Future.failedFuture("not now") : Future.succeededFuture(true)));
    HttpServer held = security.renewed(reluctant, ClientAuth.NONE, false);
    Pem renewed = certificates.issue("ca", "renewed");
    Files.copy(renewed.certificate(), certificate, REPLACE_EXISTING);
    Files.copy(renewed.key(), key, REPLACE_EXISTING);
    Logger logger = (Logger) LoggerFactory.getLogger(PeerSecurity.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    logger.addAppender(lines);
    try {
      get(security.reload());
    } finally {
      logger.detachAppender(lines);
    }
    assertThat(lines.list).filteredOn(line -> line.getLevel() == Level.WARN).singleElement().asString()
        .contains("port 4711", "CN=renewed", "asked again");
    get(security.reload());
    assertThat(asked).as("the files are the same").hasValue(2);
    get(security.reload());
    assertThat(asked).as("it has them").hasValue(2);
    assertThat(held).isSameAs(reluctant);
  }

  /** Answers some methods; the others give null. */
  private static <T> T standIn(Class<T> type, Map<String, Supplier<?>> answers) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) ->
        switch (method.getName()) {
          case "hashCode" -> System.identityHashCode(self);
          case "equals" -> self == args[0];
          default -> answers.containsKey(method.getName()) ? answers.get(method.getName()).get() : null;
        }));
  }

  @Test
  void a_client_shows_its_new_certificate() throws Exception {
    Path certificate = Files.copy(stranger.certificate(), directory.resolve("client.crt"));
    Path key = Files.copy(stranger.key(), directory.resolve("client.key"));
    PeerSecurity client = PeerSecurity.of(new TlsFiles(certificate, key, node.ca(), true, true), TOKEN);
    int port = serve(mutual(node));
    RendezvousClient calls = new RendezvousClient(new VertxNetwork(loop.vertx, options(client)), "127.0.0.1", port);
    TensorStreamClient streams = new TensorStreamClient(loop.vertx, options(client));
    assertThatThrownBy(() -> get(calls.groups())).hasMessageContaining("certificate");
    assertThatThrownBy(() -> get(loop.on(() -> streams.open("127.0.0.1", port, PATH)))).hasMessageContaining("certificate");
    Files.copy(node.certificate(), certificate, REPLACE_EXISTING);
    Files.copy(node.key(), key, REPLACE_EXISTING);
    get(client.reload());
    get(loop.on(() -> streams.open("127.0.0.1", port, PATH)));
    assertThatThrownBy(() -> get(calls.groups())).as("nobody serves that call here").hasMessageNotContaining("certificate");
  }

  /** The first call's connection has been accepted, and no more, when the certificate changes and the second call begins. */
  @Test
  void a_call_whose_connection_is_being_made_survives_a_new_certificate() throws Exception {
    Path certificate = Files.copy(node.certificate(), directory.resolve("between.crt"));
    Path key = Files.copy(node.key(), directory.resolve("between.key"));
    PeerSecurity client = mutual(new Pem(certificate, key, node.ca()));
    HttpServer server = get(mutual(node).server(loop.vertx, new HttpServerOptions()).requestHandler(r -> {
      r.response().setChunked(true).putHeader("content-type", "application/grpc").putTrailer("grpc-status", "0");
      r.response().end(Buffer.buffer(new byte[5])); // a message of no bytes
    }).listen(0, "127.0.0.1"));
    Promise<Void> accepted = Promise.promise();
    Promise<Void> gate = Promise.promise();
    NetClient through = loop.vertx.createNetClient();
    int port = get(loop.vertx.createNetServer().connectHandler(in -> {
      in.pause();
      accepted.tryComplete();
      gate.future().compose(v -> through.connect(server.actualPort(), "127.0.0.1")).onSuccess(out -> {
        out.pipeTo(in);
        in.pipeTo(out);
      });
    }).listen(0, "127.0.0.1")).actualPort();
    RendezvousClient calls = get(loop.on(() -> Future.succeededFuture(
        new RendezvousClient(new VertxNetwork(loop.vertx, options(client)), "127.0.0.1", port))));
    Future<GroupsReply> first = calls.groups();
    get(accepted.future());
    Pem renewed = certificates.issue("ca", "between");
    Files.copy(renewed.certificate(), certificate, REPLACE_EXISTING);
    Files.copy(renewed.key(), key, REPLACE_EXISTING);
    get(client.reload());
    Future<GroupsReply> second = get(loop.on(() -> Future.succeededFuture(calls.groups())));
    gate.complete();
    assertThat(get(first)).isEqualTo(GroupsReply.getDefaultInstance());
    assertThat(get(second)).isEqualTo(GroupsReply.getDefaultInstance());
  }
}
