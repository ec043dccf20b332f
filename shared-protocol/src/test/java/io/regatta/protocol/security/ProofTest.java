package io.regatta.protocol.security;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.security.ProofVerifier.Verdict;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.testing.Certificates;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls without TLS: both sides prove the token, and nobody sends it. */
class ProofTest {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final String SECRET = "the-right-token-of-this-job";
  /** Streams or calls at once: more than {@code ConnectionLimits.UNAUTHENTICATED_STREAMS}. */
  private static final int AT_ONCE = 12;
  private static final Token TOKEN = Token.of(SECRET, "a test");

  private final Loop loop = new Loop();
  /** Path and authorization of each request that a server got. */
  private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  private static PeerSecurity plain(Token token) {
    return PeerSecurity.of(null, token);
  }

  private static StreamOptions options(PeerSecurity security) {
    return StreamOptions.defaults().withTransport(Transport.GRPC).withSecurity(security);
  }

  private HttpServer serve(int port, PeerSecurity security) throws Exception {
    StreamOptions options = options(security);
    Handler<HttpServerRequest> calls = TensorStreamServer.handler(loop.vertx, Map.of(PATH, s -> s.handler(s::send)),
        new GrpcCalls(loop.vertx), options);
    return listen(port, options, calls);
  }

  private HttpServer listen(int port, StreamOptions options, Handler<HttpServerRequest> calls) throws Exception {
    return get(TensorStreamServer.create(loop.vertx, options).requestHandler(request -> {
      seen.add(request.path() + " " + request.getHeader(Token.HEADER));
      calls.handle(request);
    }).listen(port, "127.0.0.1"));
  }

  private void exchange(int port, PeerSecurity client) throws Exception {
    Promise<TensorFrame> echo = Promise.promise();
    TensorStream stream = loop.open(port, PATH, options(client), s -> {
      s.exceptionHandler(echo::tryFail).handler(echo::tryComplete);
      s.send(TensorFrame.of(TensorMessage.getDefaultInstance()));
    });
    assertThat(stream).isNotNull();
    assertThat(get(echo.future())).isNotNull();
  }

  @Test
  void a_stream_and_calls_are_let_in_and_the_token_is_not_sent() throws Exception {
    int port = serve(0, plain(TOKEN)).actualPort();
    exchange(port, plain(TOKEN));
    RendezvousClient calls = new RendezvousClient(
        new VertxNetwork(loop.vertx, options(plain(TOKEN))), "127.0.0.1", port);
    for (int call = 0; call < 3; call++) {
      assertThatThrownBy(() -> get(calls.groups())).as("is not served here").hasMessageNotContaining("token");
    }
    assertThat(seen).allMatch(request -> request.contains(" Regatta-HMAC ")).noneMatch(request ->
        request.contains(SECRET));
    assertThat(seen).filteredOn(request -> request.startsWith("/regatta.Rendezvous/Groups")).hasSize(3).allMatch(
        request -> request.contains("proof=")).doesNotHaveDuplicates();
    assertThat(seen).filteredOn(request -> !request.contains("proof=")).as("a greeting for each connection").hasSize(2);
  }

  /** Another user of this machine may have taken the port before the server that was to have it. */
  @Test
  void a_listener_on_loopback_that_does_not_know_the_token_does_not_learn_it() throws Exception {
    int stranger = listen(0, options(PeerSecurity.NONE), request -> request.response()
        .putHeader("content-type", "application/grpc").putHeader("grpc-status", "0").end()).actualPort();
    assertThatThrownBy(() -> exchange(stranger, plain(TOKEN))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("127.0.0.1:" + stranger + " does not prove that it knows the job's token");
    assertThat(seen).hasSize(1).noneMatch(request -> request.contains(SECRET));
  }

  @Test
  void the_token_is_shown_over_tls_and_domain_sockets_alone(@TempDir Path dir) {
    PeerSecurity plain = plain(TOKEN);
    SocketAddress loopback = SocketAddress.inetSocketAddress(1, "127.0.0.1");
    assertThat(plain.mayShowToken(loopback)).isFalse();
    assertThat(plain.mayShowToken(null)).as("the connection has ended").isFalse();
    assertThat(plain.mayShowToken(SocketAddress.domainSocketAddress("/of/this/user"))).isTrue();
    assertThat(PeerSecurity.of(new Certificates(dir).issue("ca", "node").files(), TOKEN).mayShowToken(loopback))
        .isTrue();
  }

  /** The result of a forged entry of the directory. */
  @Test
  void a_server_that_does_not_know_the_token_gets_nothing() throws Exception {
    for (String challenge : new String[] {null, "Bearer", "Regatta-HMAC", "Regatta-HMAC server=x",
        "Regatta-HMAC server=0.x, proof=x"}) {
      seen.clear();
      Handler<HttpServerRequest> forged = request -> {
        if (challenge != null) {
          request.response().putHeader("www-authenticate", challenge);
        }
        request.response().putHeader("content-type", "application/grpc").putHeader("grpc-status", "0").end();
      };
      int port = listen(0, options(PeerSecurity.NONE), forged).actualPort();
      refuses(port, TOKEN);
      assertThat(seen).hasSize(2).allMatch(request -> request.contains("Regatta-HMAC key=")
          && !request.contains("proof"));
    }
  }

  private void refuses(int port, Token token) {
    assertThatThrownBy(() -> exchange(port, plain(token))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("127.0.0.1:" + port + " does not prove that it knows the job's token");
    RendezvousClient calls = new RendezvousClient(
        new VertxNetwork(loop.vertx, options(plain(token))), "127.0.0.1", port);
    assertThatThrownBy(() -> get(calls.groups())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("127.0.0.1:" + port + " does not prove that it knows the job's token");
  }

  @Test
  void a_server_of_another_token_or_of_none_is_refused() throws Exception {
    refuses(serve(0, plain(Token.of("the-token-of-another-job", "a test"))).actualPort(), TOKEN);
    refuses(serve(0, PeerSecurity.NONE).actualPort(), TOKEN);
  }

  @Test
  void a_server_that_starts_again_is_greeted_again() throws Exception {
    HttpServer first = serve(0, plain(TOKEN));
    int port = first.actualPort();
    RendezvousClient calls = new RendezvousClient(
        new VertxNetwork(loop.vertx, options(plain(TOKEN))), "127.0.0.1", port);
    assertThatThrownBy(() -> get(calls.groups())).hasMessageNotContaining("token");
    get(first.close());
    serve(port, plain(TOKEN));
    seen.clear();
    for (int tries = 0; seen.isEmpty() && tries < 1000; tries++) { // the end of the old connection may come late
      assertThatThrownBy(() -> get(calls.groups())).hasMessageNotContaining("token");
    }
    assertThat(seen).hasSize(2);
  }

  /** Another process serves one connection from now on, as with a proxy. */
  @Test
  void greets_again_and_repeats_a_call_when_its_proof_is_of_an_earlier_process() throws Exception {
    AtomicReference<Handler<HttpServerRequest>> server = new AtomicReference<>();
    int port = listen(0, options(PeerSecurity.NONE), request -> server.get().handle(request)).actualPort();
    server.set(handler(plain(TOKEN)));
    PeerSecurity client = plain(TOKEN);
    RendezvousClient calls = new RendezvousClient(new VertxNetwork(loop.vertx, options(client)), "127.0.0.1", port);
    assertThatThrownBy(() -> get(calls.groups())).as("is not served here").hasMessageNotContaining("token");
    server.set(handler(plain(TOKEN)));
    seen.clear();
    assertThatThrownBy(() -> get(calls.groups())).as("is not served here").hasMessageNotContaining("token");
    assertThat(seen).as("refused, greeted, called").hasSize(3);
    server.set(request -> { // one that never takes what was made for it
      request.response().putHeader("content-type", "application/grpc").putHeader("grpc-status", "16")
          .putHeader("www-authenticate", "Regatta-HMAC client=x, server=y, proof=z").end();
    });
    seen.clear();
    assertThatThrownBy(() -> get(calls.groups())).isInstanceOf(InvalidInput.class);
    assertThat(seen).as("refused and greeted, and no more").hasSize(2);
  }

  @Test
  void a_stream_is_refused_once_when_its_proof_is_of_an_earlier_process() throws Exception {
    AtomicReference<Handler<HttpServerRequest>> server = new AtomicReference<>();
    int port = listen(0, options(PeerSecurity.NONE), request -> server.get().handle(request)).actualPort();
    server.set(handler(plain(TOKEN)));
    StreamOptions options = options(plain(TOKEN));
    TensorStreamClient client = get(loop.on(() -> Future.succeededFuture(new TensorStreamClient(loop.vertx, options))));
    assertThat(echo(client, port).succeeded()).isTrue();
    server.set(handler(plain(TOKEN)));
    assertThat(echo(client, port).cause()).hasMessageContaining("of an earlier time");
    assertThat(echo(client, port).succeeded()).isTrue();
  }

  private Future<TensorFrame> echo(TensorStreamClient client, int port) throws Exception {
    Promise<TensorFrame> echo = Promise.promise();
    get(loop.on(() -> client.open("127.0.0.1", port, PATH).map(s -> {
      s.exceptionHandler(echo::tryFail).handler(echo::tryComplete);
      s.send(TensorFrame.of(TensorMessage.getDefaultInstance()));
      return s;
    })));
    Promise<TensorFrame> done = Promise.promise();
    echo.future().onComplete(result -> done.complete());
    get(done.future());
    return echo.future();
  }

  private Handler<HttpServerRequest> handler(PeerSecurity security) {
    return TensorStreamServer.handler(loop.vertx, Map.of(PATH, s -> s.handler(s::send)), new GrpcCalls(loop.vertx),
        options(security));
  }

  @Test
  void greets_again_when_a_greeting_has_not_been_answered_in_time() throws Exception {
    Handler<HttpServerRequest> serving = handler(plain(TOKEN));
    AtomicInteger requests = new AtomicInteger();
    int port = listen(0, options(PeerSecurity.NONE), request -> {
      if (requests.incrementAndGet() > 1) { // the first one is never answered
        serving.handle(request);
      }
    }).actualPort();
    RendezvousClient calls = new RendezvousClient(
        new VertxNetwork(loop.vertx, options(plain(TOKEN)).withConnectTimeoutMillis(300)), "127.0.0.1", port);
    assertThatThrownBy(() -> get(calls.groups())).isInstanceOf(PeerLost.class);
    for (int tries = 0; requests.get() < 3 && tries < 5; tries++) {
      assertThatThrownBy(() -> get(calls.groups())).hasMessageNotContaining("token");
    }
    assertThat(requests).as("a greeting, another one, a call").hasValue(3);
  }

  /** A trainer opens a stream for each shard at once, and a port allows 8 on a connection before authentication. */
  @Test
  void opensAllStreams_whenMoreAreOpenedAtOnceThanAConnectionMayHaveBeforeAuthentication() throws Exception {
    int port = serve(0, plain(TOKEN)).actualPort();
    StreamOptions options = options(plain(TOKEN)).withConnectTimeoutMillis(5_000);
    TensorStreamClient client = get(loop.on(() -> Future.succeededFuture(new TensorStreamClient(loop.vertx, options))));
    get(loop.on(() -> Future.all(IntStream.range(0, AT_ONCE).mapToObj(i -> client.open("127.0.0.1", port, PATH))
        .toList())));
    for (int waits = 0; seen.size() < 1 + AT_ONCE && waits < 1_000; waits++) {
      Thread.sleep(10);
    }
    assertThat(seen).filteredOn(request -> request.startsWith(PATH)).hasSize(AT_ONCE);
    assertThat(seen).filteredOn(request -> !request.contains("proof=")).as("one greeting").hasSize(1);
  }

  @Test
  void answersAllCalls_whenMoreAreMadeAtOnceThanAConnectionMayHaveBeforeAuthentication() throws Exception {
    int port = serve(0, plain(TOKEN)).actualPort();
    RendezvousClient calls = new RendezvousClient(
        new VertxNetwork(loop.vertx, options(plain(TOKEN)).withConnectTimeoutMillis(5_000)), "127.0.0.1", port);
    assertThat(failures(calls)).hasSize(AT_ONCE).allSatisfy(e -> assertThat(e).as("is not served here")
        .hasMessageNotContaining("is lost"));
    assertThat(seen).filteredOn(request -> request.contains("proof=")).hasSize(AT_ONCE);
  }

  @Test
  void opensAllStreamsAtTheNextTry_whenTheFirstGreetingHasNotBeenAnswered() throws Exception {
    int port = listenAndIgnoreTheFirst();
    StreamOptions options = options(plain(TOKEN)).withConnectTimeoutMillis(1_000);
    TensorStreamClient client = get(loop.on(() -> Future.succeededFuture(new TensorStreamClient(loop.vertx, options))));
    Supplier<Future<Void>> all = () -> Future.join(IntStream.range(0, AT_ONCE).mapToObj(i ->
        client.open("127.0.0.1", port, PATH)).toList()).mapEmpty();
    assertThatThrownBy(() -> get(loop.on(all))).isInstanceOf(PeerLost.class);
    assertThat(get(loop.on(all))).isNull();
  }

  @Test
  void answersAllCallsAtTheNextTry_whenTheFirstGreetingHasNotBeenAnswered() throws Exception {
    RendezvousClient calls = new RendezvousClient(new VertxNetwork(loop.vertx,
        options(plain(TOKEN)).withConnectTimeoutMillis(1_000)), "127.0.0.1", listenAndIgnoreTheFirst());
    assertThat(failures(calls)).anySatisfy(e -> assertThat(e).hasMessageContaining("is lost"));
    assertThat(failures(calls)).allSatisfy(e -> assertThat(e).hasMessageNotContaining("is lost"));
  }

  private int listenAndIgnoreTheFirst() throws Exception {
    Handler<HttpServerRequest> serving = handler(plain(TOKEN));
    AtomicInteger requests = new AtomicInteger();
    return listen(0, options(plain(TOKEN)), request -> {
      if (requests.incrementAndGet() > 1) {
        serving.handle(request);
      }
    }).actualPort();
  }

  private List<Throwable> failures(RendezvousClient calls) throws Exception {
    return get(loop.on(() -> {
      List<Future<?>> all = new ArrayList<>();
      IntStream.range(0, AT_ONCE).forEach(i -> all.add(calls.groups()));
      return Future.join(all).transform(done -> Future.succeededFuture(all.stream().<Throwable>map(Future::cause)
          .toList()));
    }));
  }

  @Test
  void failsToOpenAStream_whenTheConnectionHasNoPlaceForItInTime() throws Exception {
    StreamOptions options = options(PeerSecurity.NONE).withConnectTimeoutMillis(500);
    HttpServerOptions one = new HttpServerOptions();
    one.getInitialSettings().setMaxConcurrentStreams(1);
    int port = get(loop.vertx.createHttpServer(one).requestHandler(TensorStreamServer.handler(loop.vertx,
        Map.of(PATH, s -> s.handler(s::send)), new GrpcCalls(loop.vertx), options)).listen(0, "127.0.0.1")).actualPort();
    TensorStreamClient client = get(loop.on(() -> Future.succeededFuture(new TensorStreamClient(loop.vertx, options))));
    TensorStream first = get(loop.on(() -> client.open("127.0.0.1", port, PATH)));
    for (int tries = 0; tries < 2; tries++) {
      assertThatThrownBy(() -> get(loop.on(() -> client.open("127.0.0.1", port, PATH)))).isInstanceOf(PeerLost.class)
          .hasMessageContaining("cannot open a tensor stream to 127.0.0.1:" + port);
    }
    loop.context.runOnContext(v -> first.sever());
    assertThat(get(loop.on(() -> client.open("127.0.0.1", port, PATH)))).as("the place that is free now").isNotNull();
  }

  /** As docs/protocol.md has it, with nothing of Regatta's. */
  @Test
  void a_foreign_client_greets_and_calls_once_with_each_proof() throws Exception {
    HttpServer server = get(loop.vertx.createHttpServer().requestHandler(plain(TOKEN).guard(r -> r.response()
        .end("in")))
        .listen(0, "127.0.0.1"));
    int port = server.actualPort();
    byte[] key = hmac(SECRET.getBytes(StandardCharsets.UTF_8), "regatta call proof");
    String id = text(hmac(SECRET.getBytes(StandardCharsets.UTF_8), "regatta token id")).substring(0, 12);
    String client = "AAAAAAAAAAAAAAAAAAAAAA";
    HttpResponse<String> greeted = fetch(port, "/why", "Regatta-HMAC key=" + id + ", client=" + client);
    assertThat(greeted.statusCode()).isEqualTo(401);
    Matcher challenge = Pattern.compile("Regatta-HMAC client=" + client + ", server=([\\w.-]+), proof=([\\w-]+)")
        .matcher(greeted.headers().firstValue("www-authenticate").orElseThrow());
    assertThat(challenge.matches()).isTrue();
    String nonce = challenge.group(1);
    assertThat(challenge.group(2)).isEqualTo(text(hmac(key, "server\n" + client + "\n" + nonce)));
    String begin = "Regatta-HMAC key=" + id + ", client=" + client + ", server=" + nonce + ", number=";
    String first = begin + "1, proof=" + text(hmac(key, "client\n" + client + "\n" + nonce + "\n1\nGET\n/why?x=1"));
    assertThat(fetch(port, "/why?x=1", first).body()).isEqualTo("in");
    assertThat(fetch(port, "/why?x=1", first).body()).contains("a call that has come before");
    String second = begin + "2, proof=" + text(hmac(key, "client\n" + client + "\n" + nonce + "\n2\nGET\n/why"));
    assertThat(fetch(port, "/metrics", second).statusCode()).as("for another path").isEqualTo(401);
    assertThat(fetch(port, "/why", second.replace("number=2", "number=3")).statusCode()).isEqualTo(401);
    HttpServer other = get(loop.vertx.createHttpServer().requestHandler(plain(TOKEN).guard(r -> r.response()
        .end("in")))
        .listen(0, "127.0.0.1"));
    HttpResponse<String> elsewhere = fetch(other.actualPort(), "/why", second);
    assertThat(elsewhere.body()).as("at another server").contains("of an earlier time");
    assertThat(elsewhere.headers().firstValue("www-authenticate").orElseThrow()).startsWith("Regatta-HMAC client="
        + client);
    assertThat(fetch(port, "/why", second).body()).isEqualTo("in");
    for (String broken : new String[] {"Regatta-HMAC ", "Regatta-HMAC key=" + id,
        "Regatta-HMAC key=x, client=" + client, begin + "0, proof=x", begin + "99999999999999999999, proof=x",
        begin + "3, number=4, proof=x", begin + "3, proof=" + "x".repeat(600)}) {
      assertThat(fetch(port, "/why", broken).statusCode()).as(broken).isEqualTo(401);
    }
  }

  private static byte[] hmac(byte[] key, String text) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static HttpResponse<String> fetch(int port, String path, String authorization) throws Exception {
    return HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .header("Authorization", authorization).build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void numbers_may_come_in_any_order_but_once_and_sessions_end() {
    AtomicLong millis = new AtomicLong(1000);
    ProofVerifier verifier = new ProofVerifier(millis::get);
    AtomicLong nanos = new AtomicLong();
    ProofSession.Greeting greeting = new ProofSession.Greeting(TOKEN, nanos::get);
    ProofSession session = greeting.answered(verifier.challenge(ProofHeader.parse(greeting.header()), TOKEN), "a peer");
    List<Map<String, String>> calls = new ArrayList<>();
    for (int call = 0; call < 3 * ProofVerifier.WINDOW; call++) {
      calls.add(ProofHeader.parse(session.header("POST", "/a/b")));
    }
    assertThat(check(verifier, calls.get(5))).isEqualTo(Verdict.PROVED);
    assertThat(check(verifier, calls.get(3))).isEqualTo(Verdict.PROVED);
    assertThat(check(verifier, calls.get(3))).isEqualTo(Verdict.REPEATED);
    assertThat(check(verifier, calls.get(5))).isEqualTo(Verdict.REPEATED);
    assertThat(check(verifier, calls.get(4 + ProofVerifier.WINDOW))).isEqualTo(Verdict.PROVED);
    assertThat(check(verifier, calls.get(4))).as("too old").isEqualTo(Verdict.REPEATED);
    assertThat(check(verifier, calls.get(6))).isEqualTo(Verdict.PROVED);
    assertThat(check(verifier, calls.get(3 * ProofVerifier.WINDOW - 1))).isEqualTo(Verdict.PROVED);
    assertThat(check(verifier, calls.get(2 * ProofVerifier.WINDOW))).isEqualTo(Verdict.PROVED);
    assertThat(check(verifier, calls.get(2 * ProofVerifier.WINDOW))).isEqualTo(Verdict.REPEATED);
    assertThat(session.isUsable(TOKEN)).isTrue();
    nanos.addAndGet(ProofVerifier.LIFETIME_MILLIS / 2 * 1_000_000);
    assertThat(session.isUsable(TOKEN)).isFalse();
    millis.addAndGet(ProofVerifier.LIFETIME_MILLIS);
    assertThat(check(verifier, ProofHeader.parse(session.header("POST", "/a/b")))).isEqualTo(Verdict.PROVED);
    millis.incrementAndGet();
    assertThat(check(verifier, ProofHeader.parse(session.header("POST", "/a/b")))).isEqualTo(Verdict.EXPIRED);
  }

  @Test
  void letsNoCallInTwice_whenItsSessionExpiresWhileItIsChecked() {
    AtomicLong millis = new AtomicLong(1000);
    ProofVerifier verifier = new ProofVerifier(millis::get);
    Map<String, String> call = firstCall(verifier, TOKEN);
    assertThat(check(verifier, call)).isEqualTo(Verdict.PROVED);
    millis.addAndGet(ProofVerifier.LIFETIME_MILLIS);
    assertThat(verifier.check(call, TOKEN, "POST", "/a/b")).as("in its last moment").isEqualTo(Verdict.PROVED);
    millis.incrementAndGet();
    assertThat(check(verifier, firstCall(verifier, TOKEN))).as("removes expired sessions").isEqualTo(Verdict.PROVED);
    assertThat(verifier.record(call, TOKEN)).isEqualTo(Verdict.EXPIRED);
  }

  private static Verdict check(ProofVerifier verifier, Map<String, String> call) {
    Verdict verdict = verifier.check(call, TOKEN, "POST", "/a/b");
    return verdict == Verdict.PROVED ? verifier.record(call, TOKEN) : verdict;
  }

  private static Map<String, String> firstCall(ProofVerifier verifier, Token token) {
    ProofSession.Greeting greeting = new ProofSession.Greeting(token, () -> 0);
    return ProofHeader.parse(greeting.answered(verifier.challenge(ProofHeader.parse(greeting.header()), token),
        "a peer").header("POST", "/a/b"));
  }

  @Test
  void refusesNewSessionsOfOneTokenAlone_whenItHasAsManyAsItMay() {
    AtomicLong millis = new AtomicLong(1000);
    ProofVerifier verifier = new ProofVerifier(millis::get, 2);
    Token monitor = Token.of("the-token-of-the-monitoring", "a test");
    for (int session = 0; session < 2; session++) {
      assertThat(verifier.record(firstCall(verifier, monitor), monitor)).isEqualTo(Verdict.PROVED);
    }
    assertThat(verifier.record(firstCall(verifier, monitor), monitor)).isEqualTo(Verdict.OVERLOADED);
    assertThat(check(verifier, firstCall(verifier, TOKEN))).isEqualTo(Verdict.PROVED);
    millis.addAndGet(ProofVerifier.LIFETIME_MILLIS + 1);
    assertThat(verifier.record(firstCall(verifier, monitor), monitor)).isEqualTo(Verdict.PROVED);
  }

  /** A call that is refused is recognized by nothing: it may come again, and is refused again. */
  @Test
  void keepsNoSession_whenTheTokenHasNoRoleForTheCall() throws Exception {
    Tokens tokens = Tokens.parse("job " + SECRET + "\nprometheus the-token-of-the-monitoring roles=monitor\n",
        "a test");
    PeerSecurity security = PeerSecurity.of(null, tokens, null);
    Token monitor = Token.of("the-token-of-the-monitoring", "a test");
    HttpServer server = get(loop.vertx.createHttpServer().requestHandler(request -> {
      if (request.path().equals("/health")) {
        request.response().end(String.valueOf(security.couldCall(request, "/predict")));
      } else if (security.admits(request)) {
        request.response().end("in");
      }
    }).listen(0, "127.0.0.1"));
    for (String path : List.of("/predict", "/health")) {
      ProofSession.Greeting greeting = new ProofSession.Greeting(monitor, () -> 0);
      String challenge = fetch(server.actualPort(), "/why", greeting.header()).headers()
          .firstValue("www-authenticate").orElseThrow();
      String call = greeting.answered(challenge, "a peer").header("GET", path);
      for (int time = 0; time < 2; time++) {
        assertThat(fetch(server.actualPort(), path, call).body()).contains(path.equals("/health") ? "false"
            : "a call for which its token prometheus has no role");
      }
    }
  }
}
