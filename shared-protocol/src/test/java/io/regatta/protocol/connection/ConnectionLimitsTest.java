package io.regatta.protocol.connection;

import static io.regatta.protocol.stream.Loop.get;
import static io.regatta.protocol.testing.HostileClient.call;
import static io.regatta.protocol.testing.HostileClient.frame;
import static io.regatta.protocol.testing.HostileClient.headers;
import static io.regatta.protocol.testing.HostileClient.hello;
import static io.regatta.protocol.testing.HostileClient.join;
import static io.regatta.protocol.testing.HostileClient.repeat;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.HostileClient;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The limits of a connection before its peer has shown the token. */
@Timeout(60)
class ConnectionLimitsTest {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final String CHECK = "/grpc.health.v1.Health/Check";
  private static final Token TOKEN = Token.of("the-right-token-of-this-job", "a test");
  private static final ConnectionLimits HASTY = new ConnectionLimits(100, 50, 300);
  private static final ConnectionLimits PATIENT = new ConnectionLimits(100, 50, 600_000);

  private final Loop loop = new Loop();

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  private static StreamOptions options(ConnectionLimits limits) {
    return StreamOptions.defaults().withTransport(Transport.GRPC).withSecurity(PeerSecurity.of(null, TOKEN, limits));
  }

  private int serve(ConnectionLimits limits) throws Exception {
    return loop.serve(PATH, options(limits), s -> s.handler(s::send)).actualPort();
  }

  /** A stream that echoes, and has done so once. */
  private TensorStream echo(int port, ConnectionLimits limits) throws Exception {
    TensorStream stream = loop.open(port, PATH, options(limits), s -> { });
    roundTrip(stream);
    return stream;
  }

  private void roundTrip(TensorStream stream) throws Exception {
    Promise<Void> back = Promise.promise();
    get(loop.on(() -> {
      stream.handler(frame -> back.tryComplete());
      stream.exceptionHandler(back::tryFail);
      return stream.send(TensorFrame.of(TensorMessage.getDefaultInstance()));
    }));
    get(back.future());
  }

  @Test
  void strangers_of_each_kind_are_closed_in_time_and_a_silent_stream_of_the_job_stays() throws Exception {
    int port = serve(HASTY);
    TensorStream training = echo(port, HASTY);
    byte[] health = join(hello(), call(1, CHECK));
    List<byte[]> kinds = List.of(new byte[0], "P".getBytes(US_ASCII),
        "GET /health HTTP/1.1\r\nHost: a\r\nX-".getBytes(US_ASCII),
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nsome".getBytes(US_ASCII), hello(), health,
        join(hello(), call(1, PATH)), join(hello(), call(1, PATH, Token.HEADER, "Bearer another-token-than-theirs")),
        join(health, frame(Http2FrameTypes.DATA, 0, 1, new byte[] {0, 0, 0, 1, 0, 1})), new byte[] {22, 3, 1, 2, 0, 1,
        0});
    List<HostileClient> clients = new ArrayList<>();
    for (byte[] kind : kinds) {
      HostileClient client = HostileClient.connect(port);
      client.send(kind);
      clients.add(client);
    }
    for (HostileClient client : clients) {
      client.awaitEnd();
      client.close();
    }
    roundTrip(training);
  }

  /** Each byte would start an idle time-out again. */
  @Test
  void trickling_bytes_does_not_help() throws Exception {
    int port = serve(HASTY);
    try (HostileClient slow = HostileClient.connect(port); HostileClient pings = HostileClient.connect(port)) {
      slow.send("GET /".getBytes(US_ASCII));
      pings.send(hello());
      long trickle = loop.vertx.setPeriodic(HASTY.authenticateMillis() / 10, id -> {
        slow.send("a".getBytes(US_ASCII));
        pings.send(frame(Http2FrameTypes.PING, 0, 0, new byte[8]));
      });
      pings.awaitEnd();
      slow.awaitEnd();
      loop.vertx.cancelTimer(trickle);
    }
  }

  @Test
  void a_tls_handshake_that_does_not_come_is_not_awaited(@TempDir Path directory) throws Exception {
    PeerSecurity tls = PeerSecurity.of(new Certificates(directory).issue("ca", "node").files(), TOKEN, HASTY);
    int port = get(tls.server(loop.vertx, new HttpServerOptions()).requestHandler(r -> r.response().end()).listen(0,
        "127.0.0.1"))
        .actualPort();
    try (HostileClient silent = HostileClient.connect(port); HostileClient begun = HostileClient.connect(port)) {
      begun.send(new byte[] {22, 3, 1, 2, 0, 1, 0});
      silent.awaitEnd();
      begun.awaitEnd();
    }
  }

  @Test
  void the_oldest_stranger_makes_room_and_the_job_is_served_meanwhile() throws Exception {
    ConnectionLimits few = new ConnectionLimits(16, 1, 600_000); // of a loopback address 8, without authentication 4
    int port = serve(few);
    List<HostileClient> slow = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      slow.add(HostileClient.connect(port));
    }
    TensorStream training = echo(port, few);
    for (int i = 0; i < 40; i++) {
      slow.add(HostileClient.connect(port));
    }
    roundTrip(training);
    for (HostileClient client : slow.subList(0, 76)) {
      client.awaitEnd();
    }
    slow.forEach(ConnectionLimitsTest::closeQuietly);
  }

  @Test
  void refuses_one_more_than_an_address_may_have_when_all_have_authenticated() throws Exception {
    ConnectionLimits few = new ConnectionLimits(8, 4, 600_000);
    int port = serve(few);
    List<HostileClient> members = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      HostileClient member = HostileClient.connect(port);
      member.send(hello(), headers(1, true, "GET", "/nothing", Token.HEADER, TOKEN.headerValue()));
      member.awaitBytes(100);
      members.add(member);
    }
    try (HostileClient more = HostileClient.connect(port)) {
      assertThat(more.awaitEnd()).isEmpty();
    }
    try (HostileClient other = HostileClient.connect(port, "127.0.0.2")) {
      other.send(hello(), headers(1, true, "GET", "/nothing", Token.HEADER, TOKEN.headerValue()));
      other.awaitBytes(100);
    }
    members.get(0).close();
    HostileClient again = HostileClient.connect(port);
    // until the server knows that the place is free
    for (int tries = 0; tries < 1000 && !again.send(hello()); tries++) {
      again.close();
      again = HostileClient.connect(port);
    }
    again.close();
    members.forEach(ConnectionLimitsTest::closeQuietly);
  }

  private HostileClient member(int port, String from) throws IOException {
    HostileClient member = HostileClient.connect(port, from);
    member.send(hello(), headers(1, true, "GET", "/nothing", Token.HEADER, TOKEN.headerValue()));
    member.awaitBytes(100);
    return member;
  }

  @Test
  void strangers_and_members_of_several_addresses_count_together() throws Exception {
    ConnectionLimits few = new ConnectionLimits(8, 1, 600_000); // of a loopback address 4, without authentication 2
    int port = serve(few);
    List<HostileClient> strangers = new ArrayList<>();
    for (String from : List.of("127.0.0.2", "127.0.0.3", "127.0.0.4")) {
      strangers.add(HostileClient.connect(port, from));
    }
    strangers.get(0).awaitEnd(); // for the third one
    List<HostileClient> members = new ArrayList<>();
    for (String from : List.of("127.0.0.2", "127.0.0.3")) {
      for (int i = 0; i < 4; i++) {
        members.add(member(port, from));
      }
      try (HostileClient more = HostileClient.connect(port, from)) {
        assertThat(more.awaitEnd()).as("a fifth one of %s", from).isEmpty();
      }
    }
    strangers.get(1).awaitEnd(); // for the members
    strangers.get(2).awaitEnd();
    try (HostileClient ninth = HostileClient.connect(port, "127.0.0.5")) {
      assertThat(ninth.awaitEnd()).as("eight are open, and all have authenticated").isEmpty();
    }
    members.forEach(ConnectionLimitsTest::closeQuietly);
    strangers.forEach(ConnectionLimitsTest::closeQuietly);
  }

  @Test
  void floods_without_the_token_end_after_some_bytes() throws Exception {
    int port = serve(PATIENT);
    TensorStream training = echo(port, PATIENT);
    byte[] ping = frame(Http2FrameTypes.PING, 0, 0, new byte[8]);
    byte[] settings = frame(Http2FrameTypes.SETTINGS, 0, 0, new byte[] {0, 3, 0, 0, 0, 100});
    byte[] windows = frame(Http2FrameTypes.WINDOW_UPDATE, 0, 0, new byte[] {0, 0, 0, 1});
    byte[] unknown = frame(0x42, 0, 0, new byte[100]);
    for (byte[] one : List.of(ping, settings, windows, unknown)) {
      try (HostileClient flood = HostileClient.connect(port)) {
        flood.send(hello());
        byte[] many = repeat(one, 1000);
        int sent = 0;
        while (sent < 100 && flood.send(many)) {
          sent++;
        }
        flood.awaitEnd();
      }
      roundTrip(training);
    }
  }

  /** Else each such connection would keep a loop busy at the rate of the network until it is cut. */
  @Test
  void no_more_is_read_of_a_connection_that_has_sent_too_much() throws Exception {
    int port = serve(PATIENT);
    byte[] post = ("POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: " + (1 << 30) + "\r\n\r\n").getBytes(US_ASCII);
    byte[] giant = {0x7f, -1, -1, -1};
    for (byte[] first : List.of(post, giant)) {
      try (HostileClient flood = HostileClient.connect(port)) {
        flood.send(first);
        int sent = 0;
        while (sent < 64 && flood.send(new byte[1 << 20])) {
          sent++;
        }
        assertThat(sent).as("MiB that fit into buffers on the way").isLessThan(16);
        flood.awaitEnd();
      }
    }
  }

  @Test
  void so_many_calls_without_the_token_are_answered_and_no_more() throws Exception {
    int port = serve(PATIENT);
    try (HostileClient client = HostileClient.connect(port)) {
      client.send(hello());
      for (int i = 0; i < 150; i++) {
        client.send(headers(1 + 2 * i, true, "GET", "/health"));
        client.awaitFramesOrEnd(Http2FrameTypes.DATA, i + 1);
      }
      assertThat(HostileClient.count(Http2FrameTypes.HEADERS, client.awaitEnd())).isEqualTo(100);
    }
  }

  private static final byte[] NO_WINDOW = join("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII),
      frame(Http2FrameTypes.SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 0}));

  private static final byte[] PING = frame(Http2FrameTypes.PING, 0, 0, new byte[8]);

  /** Calls whose answers have no window, from stream 1 on. */
  private static byte[] blocked(int calls) {
    byte[][] frames = new byte[calls][];
    for (int i = 0; i < calls; i++) {
      frames[i] = headers(1 + 2 * i, true, "GET", "/health");
    }
    return join(frames);
  }

  /** Each would stay with all that was made for it until the client gives it a window, which it never does. */
  @Test
  void refusesFurtherCalls_whenFewAreOpenWithoutTheToken() throws Exception {
    int port = serve(PATIENT);
    try (HostileClient client = HostileClient.connect(port)) {
      client.send(NO_WINDOW, blocked(40), PING);
      client.awaitFramesOrEnd(Http2FrameTypes.PING, 1);
      client.halfClose();
      assertThat(HostileClient.count(Http2FrameTypes.RST_STREAM, client.awaitEnd())).as("of 40").isEqualTo(32);
    }
  }

  @Test
  void opensManyStreams_onceTheConnectionHasAuthenticated() throws Exception {
    int port = serve(PATIENT);
    HttpClient client = loop.vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
        .setHttp2ClearTextUpgrade(false));
    List<Future<HttpClientRequest>> streams = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      streams.add(client.request(HttpMethod.POST, port, "127.0.0.1", PATH).compose(request -> request
          .putHeader(Token.HEADER, TOKEN.headerValue()).putHeader("content-type", "application/grpc")
          .setChunked(true).sendHead().map(request)));
    }
    get(Future.all(streams));
    assertThat(streams.stream().map(each -> each.result().connection()).distinct()).hasSize(1);
    get(client.close());
  }

  @Test
  void closesTheConnectionWithAFurtherCall_whenThePortHasAsManyAsItTakes() throws Exception {
    int port = serve(PATIENT); // 64 calls beyond the first of each connection
    List<HostileClient> open = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      HostileClient client = HostileClient.connect(port);
      client.send(NO_WINDOW, blocked(5), PING);
      client.awaitFramesOrEnd(Http2FrameTypes.PING, 1); // after the calls
      open.add(client);
    }
    TensorStream training = echo(port, PATIENT);
    try (HostileClient probe = HostileClient.connect(port)) {
      probe.send(hello(), blocked(1));
      probe.awaitFramesOrEnd(Http2FrameTypes.DATA, 1);
      assertThat(probe.endsWithin(1)).isFalse();
    }
    try (HostileClient further = HostileClient.connect(port)) {
      further.send(NO_WINDOW, blocked(2));
      further.awaitEnd();
    }
    open.get(0).close();
    roundTrip(training);
    for (HostileClient client : open) {
      client.close();
    }
  }

  /** With a watch, one more of them could be left open in each period. */
  @Test
  void aWatchKeepsNoConnection_whileAnotherCallIsOpen() throws Exception {
    int port = serve(HASTY);
    try (HostileClient client = HostileClient.connect(port)) {
      client.send(NO_WINDOW, call(1, "/grpc.health.v1.Health/Watch"), frame(Http2FrameTypes.DATA, 1, 1, new byte[5]),
          call(3, CHECK), frame(Http2FrameTypes.DATA, 1, 3, new byte[5]));
      client.awaitEnd();
    }
  }

  @Test
  void aWatchKeepsItsConnection_whenAnotherCallIsOpenAtTheDeadlineAndThenEnds() throws Exception {
    int port = serve(new ConnectionLimits(100, 50, 1_000));
    try (HostileClient client = HostileClient.connect(port)) {
      client.send(NO_WINDOW, call(1, "/grpc.health.v1.Health/Watch"), frame(Http2FrameTypes.DATA, 1, 1, new byte[5]),
          PING);
      client.awaitFramesOrEnd(Http2FrameTypes.PING, 1);
      client.send(call(3, CHECK), frame(Http2FrameTypes.DATA, 1, 3, new byte[5]));
      assertThat(client.endsWithin(1_300)).as("after a deadline").isFalse();
      client.send(frame(Http2FrameTypes.RST_STREAM, 0, 3, new byte[] {0, 0, 0, 8}));
      assertThat(client.endsWithin(2_200)).as("after the next one").isFalse();
    }
  }

  /** The last place of the connection is for the refusal: a client's library would hold the call back in silence. */
  @Test
  void refusesAWatch_whenTheConnectionHasAsManyAsItMayWithoutTheToken() throws Exception {
    int port = serve(PATIENT);
    HttpClient client = loop.vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
        .setHttp2ClearTextUpgrade(false));
    List<String> statuses = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      HttpClientResponse answer = get(client.request(HttpMethod.POST, port, "127.0.0.1", "/grpc.health.v1.Health/Watch")
          .compose(r -> r.putHeader("content-type", "application/grpc").send(Buffer.buffer(new byte[5]))));
      statuses.add(answer.getHeader("grpc-status"));
    }
    assertThat(statuses).as("7 watches, then RESOURCE_EXHAUSTED").containsExactly(null, null, null, null, null, null,
        null, "8", "8");
    get(client.close());
  }

  /** The library's handler of WebSocket extensions would count requests that wait for an answer, and fail. */
  @Test
  void answersRequestsInARowUpToTheLimit_whenTheyComeAtOnce() throws Exception {
    PeerSecurity security = PeerSecurity.of(null, TOKEN, PATIENT);
    int port = get(security.server(loop.vertx, new HttpServerOptions())
        .requestHandler(security.open(r -> loop.vertx.setTimer(1, id -> r.response().end()))).listen(0, "127.0.0.1")).actualPort();
    try (HostileClient client = HostileClient.connect(port)) {
      client.send(repeat("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(US_ASCII), 200));
      assertThat(new String(client.awaitEnd(), US_ASCII).split("HTTP/1.1 200", -1)).hasSize(101);
    }
  }

  /** The token comes with the first bytes of a long request. */
  @Test
  void a_long_first_request_with_the_token_is_read() throws Exception {
    Buffer body = Buffer.buffer(new byte[4 << 20]);
    for (HttpVersion version : List.of(HttpVersion.HTTP_2, HttpVersion.HTTP_1_1)) {
      PeerSecurity security = PeerSecurity.of(null, TOKEN, PATIENT);
      int port = get(security.server(loop.vertx, new HttpServerOptions()).requestHandler(security.guard(
          r -> r.body().onSuccess(all -> r.response().end("read " + all.length())))).listen(0, "127.0.0.1"))
          .actualPort();
      HttpClient client = loop.vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(version)
          .setHttp2ClearTextUpgrade(false));
      Buffer answer = get(client.request(HttpMethod.POST, port, "127.0.0.1", "/")
          .compose(r -> r.putHeader(Token.HEADER, TOKEN.headerValue()).send(body)).compose(r -> r.body()));
      assertThat(answer.toString()).isEqualTo("read " + body.length());
      get(client.close());
    }
  }

  @Test
  void a_health_watch_keeps_its_connection_until_it_ends() throws Exception {
    GrpcCalls calls = new GrpcCalls(loop.vertx);
    PeerSecurity security = PeerSecurity.of(null, TOKEN, HASTY);
    int port = get(loop.on(() -> security.server(loop.vertx, new HttpServerOptions())
        .requestHandler(TensorStreamServer.handler(loop.vertx, Map.of(), calls, options(HASTY))).listen(0,
        "127.0.0.1"))).actualPort();
    HttpClient client = loop.vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
        .setHttp2ClearTextUpgrade(false));
    Promise<Void> told = Promise.promise();
    Promise<Void> closed = Promise.promise();
    HttpClientRequest watch = get(client.request(HttpMethod.POST, port, "127.0.0.1", "/grpc.health.v1.Health/Watch"));
    watch.connection().closeHandler(v -> closed.complete());
    watch.response().onSuccess(r -> r.handler(status -> told.tryComplete()));
    watch.putHeader("content-type", "application/grpc").send(Buffer.buffer(new byte[5]));
    get(told.future());
    for (int i = 0; i < 3; i++) { // each is closed after the time that a stranger has
      try (HostileClient stranger = HostileClient.connect(port)) {
        stranger.awaitEnd();
      }
    }
    assertThat(closed.future().isComplete()).isFalse();
    watch.reset(8);
    get(closed.future());
    get(client.close());
  }

  @Test
  void a_silent_health_watch_keeps_its_connection_longer_than_idle_ones_stay() throws Exception {
    GrpcCalls calls = new GrpcCalls(loop.vertx);
    PeerSecurity security = PeerSecurity.of(null, TOKEN, PATIENT);
    HttpServerOptions idle = new HttpServerOptions().setIdleTimeout(500).setIdleTimeoutUnit(TimeUnit.MILLISECONDS);
    int port = get(loop.on(() -> security.server(loop.vertx, idle).requestHandler(TensorStreamServer.handler(loop.vertx,
        Map.of(), calls, options(PATIENT))).listen(0, "127.0.0.1"))).actualPort();
    HttpClient client = loop.vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
        .setHttp2ClearTextUpgrade(false));
    Promise<Void> closed = Promise.promise();
    List<HttpClientRequest> watches = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Promise<Void> told = Promise.promise();
      HttpClientRequest watch = get(client.request(HttpMethod.POST, port, "127.0.0.1",
          "/grpc.health.v1.Health/Watch"));
      watch.connection().closeHandler(v -> closed.tryComplete());
      watch.response().onSuccess(r -> r.handler(status -> told.tryComplete()));
      watch.putHeader("content-type", "application/grpc").send(Buffer.buffer(new byte[5]));
      get(told.future());
      watches.add(watch);
    }
    watches.get(0).reset(8); // the other one still keeps the connection
    for (int i = 0; i < 3; i++) { // each is closed after the idle time-out
      try (HostileClient stranger = HostileClient.connect(port)) {
        stranger.awaitEnd();
      }
    }
    assertThat(closed.future().isComplete()).isFalse();
    watches.get(1).reset(8);
    get(closed.future());
    get(client.close());
  }

  /** It authenticates between the choice of who makes room and the close. */
  @Test
  void a_connection_that_authenticates_is_not_closed_for_a_new_one_and_counts() {
    ConnectionLimits few = new ConnectionLimits(4, 4, 600_000); // one may be unauthenticated
    EmbeddedChannel listening = new EmbeddedChannel(new ConnectionLimiter(few, true, 100));
    List<EmbeddedChannel> accepted = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      accepted.add(new EmbeddedChannel(new ChannelInboundHandlerAdapter()));
      listening.writeInbound(accepted.get(i));
    }
    accepted.get(3).pipeline().get(Admission.class).admit();
    accepted.get(3).runPendingTasks();
    assertThat(accepted.get(3).isOpen()).isTrue();
    accepted.get(0).runPendingTasks();
    assertThat(accepted.get(0).isOpen()).as("another stranger").isFalse();
    accepted.get(4).pipeline().get(Admission.class).admit();
    for (int i = 5; i < 7; i++) {
      accepted.add(new EmbeddedChannel());
      listening.writeInbound(accepted.get(i));
      accepted.get(i).pipeline().get(Admission.class).admit();
    }
    EmbeddedChannel more = new EmbeddedChannel();
    listening.writeInbound(more);
    assertThat(more.isOpen()).as("four have authenticated").isFalse();
    accepted.get(3).close();
    EmbeddedChannel next = new EmbeddedChannel();
    listening.writeInbound(next);
    assertThat(next.isOpen()).isTrue();
  }

  @Test
  void floods_of_the_http2_library_end_with_a_token_too() throws Exception {
    int port = serve(PATIENT);
    byte[] empty = frame(Http2FrameTypes.DATA, 0, 1, new byte[0]);
    try (HostileClient flood = HostileClient.connect(port)) {
      flood.send(hello(), call(1, PATH + "Nothing", Token.HEADER, TOKEN.headerValue()), repeat(empty, 100));
      assertThat(flood.awaitGoAway()).as("empty DATA").isEqualTo(Http2Error.ENHANCE_YOUR_CALM.code());
    }
    PeerSecurity security = PeerSecurity.of(null, TOKEN, PATIENT);
    int plain = get(security.server(loop.vertx, new HttpServerOptions()).requestHandler(security.guard(r -> { }))
        .listen(0, "127.0.0.1")).actualPort();
    try (HostileClient flood = HostileClient.connect(plain)) {
      flood.send(hello());
      for (int i = 0; i < 300; i++) {
        flood.send(call(1 + 2 * i, PATH, Token.HEADER, TOKEN.headerValue()),
            frame(Http2FrameTypes.RST_STREAM, 0, 1 + 2 * i, new byte[] {0, 0, 0, 8}));
      }
      assertThat(flood.awaitGoAway()).as("RST_STREAM").isEqualTo(Http2Error.ENHANCE_YOUR_CALM.code());
    }
  }

  @Test
  void limits_are_checked() {
    assertThatThrownBy(() -> new ConnectionLimits(3, 1, 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("max is 3");
    assertThatThrownBy(() -> new ConnectionLimits(4, 0, 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("max_per_address is 0");
    assertThatThrownBy(() -> new ConnectionLimits(4, 1, 0)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("authenticate_ms is 0");
  }

  private static void closeQuietly(HostileClient client) {
    try {
      client.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
