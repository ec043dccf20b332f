package io.regatta.protocol.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.tensor.Kind;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.NetServer;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Streams over real connections: ends, errors, cut messages, back-pressure, frozen peers. */
class TensorStreamTest {
  private static final String PATH = "/regatta.Test/Exchange";

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();

  @AfterEach
  void close() throws Exception {
    get(vertx.close());
  }

  @Test
  void an_echo_comes_back_and_both_sides_end_cleanly() throws Exception {
    int port = serve(StreamOptions.defaults(), s -> s.handler(s::send).endHandler(v -> s.end()));
    Promise<Long> ended = Promise.promise();
    get(on(() -> client(StreamOptions.defaults()).open("127.0.0.1", port, PATH).onSuccess(s -> {
      long[] seen = {0};
      s.handler(f -> seen[0] += f.read().remaining());
      s.endHandler(v -> ended.complete(seen[0])).exceptionHandler(ended::fail);
      s.send(frame(1 << 20));
      s.send(frame(0));
      s.end();
    })));
    assertThat(get(ended.future())).isEqualTo(1L << 20);
  }

  @Test
  void the_text_of_a_status_reaches_the_client_whatever_its_letters() throws Exception {
    String text = "100 % of rank 3's rows – too many: größer als erlaubt";
    int port = serve(StreamOptions.defaults(), s -> s.handler(f -> s.fail(new Overloaded(text))));
    RegattaException e = failure(port, StreamOptions.defaults(), s -> s.send(frame(1)));
    assertThat(e).isInstanceOf(Overloaded.class).hasMessage(text);
  }

  @Test
  void a_message_beyond_the_servers_limit_is_refused_with_the_limit() throws Exception {
    StreamOptions small = new StreamOptions(1024, 8192, 1 << 20, 4, 65_535, 65_535, 16_384, 0, 1000, 1000);
    int port = serve(small, s -> s.handler(f -> s.fail(new InvalidInput("it was delivered"))));
    RegattaException e = failure(port, StreamOptions.defaults(), s -> s.send(frame(10_000)));
    assertThat(e).isInstanceOf(InvalidInput.class).hasMessageContaining("max_message_bytes = 8192");
  }

  @Test
  void a_message_cut_short_by_the_end_is_an_error_on_both_sides() throws Exception {
    Promise<RegattaException> server = Promise.promise();
    int port = serve(StreamOptions.defaults(), s -> s.handler(f -> server.fail("delivered")).endHandler(
        v -> server.fail("taken as a clean end")).exceptionHandler(server::complete));
    Buffer whole = TensorFrameEncoder.encode(frame(100));
    String status = get(on(() -> vertx.createHttpClient(StreamOptions.defaults().clientOptions())
        .request(HttpMethod.POST, port, "127.0.0.1", PATH)
        .compose((HttpClientRequest r) -> r.putHeader("content-type", "application/grpc").send(whole.slice(0, 60)))
        .compose(r -> r.end().map(v -> r.getTrailer("grpc-status")))));
    assertThat(get(server.future())).isInstanceOf(InvalidInput.class).hasMessageContaining("middle of a message");
    assertThat(status).isEqualTo("3");
  }

  @Test
  void a_stalled_consumer_holds_the_sender_back() throws Exception {
    StreamOptions options = new StreamOptions(64 << 10, 1 << 20, 1 << 30, 4, 1 << 20, 2 << 20, 16_384, 0, 1000, 1000);
    Promise<TensorStream> stalled = Promise.promise();
    int port = serve(options, s -> {
      s.pause();
      s.handler(f -> { });
      stalled.tryComplete(s);
    });
    long chunk = 64 << 10;
    Promise<Long> full = Promise.promise();
    Promise<Long> drained = Promise.promise();
    get(on(() -> client(options).open("127.0.0.1", port, PATH).onSuccess(s -> {
      s.handler(f -> { });
      long[] sent = {0};
      Runnable pump = new Runnable() {
        @Override
        public void run() {
          while (!s.writeQueueFull() && sent[0] < 64 << 20) {
            s.send(frame((int) chunk));
            sent[0] += chunk;
          }
          if (sent[0] >= 64 << 20) {
            drained.tryComplete(sent[0]);
          }
        }
      };
      s.drainHandler(v -> pump.run());
      pump.run();
      // The queue stays full for as long as nobody reads: seen when a timer finds the same figure twice.
      long[] last = {-1};
      vertx.setPeriodic(50, t -> {
        if (sent[0] == last[0]) {
          vertx.cancelTimer(t);
          full.tryComplete(sent[0]);
        }
        last[0] = sent[0];
      });
    })));
    assertThat(get(full.future())).as("bytes accepted while the consumer stalls: window, queue and a few chunks")
        .isLessThan(8L << 20);
    TensorStream server = get(stalled.future());
    server.context().runOnContext(v -> server.resume());
    assertThat(get(drained.future())).isEqualTo(64L << 20);
  }

  @Test
  void a_peer_that_accepts_and_never_answers_is_lost_in_bounded_time() throws Exception {
    NetServer frozen = vertx.createNetServer().connectHandler(s -> s.pause());
    int port = get(frozen.listen(0, "127.0.0.1")).actualPort();
    StreamOptions quick = new StreamOptions(1024, 8192, 1 << 20, 4, 65_535, 65_535, 16_384, 50, 200, 300);
    org.assertj.core.api.Assertions.assertThatThrownBy(() -> get(on(() -> client(quick).open("127.0.0.1", port, PATH))))
        .hasCauseInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1:" + port);
  }

  @Test
  void a_port_where_nobody_listens_is_named() {
    org.assertj.core.api.Assertions.assertThatThrownBy(() -> {
      NetServer s = get(vertx.createNetServer().connectHandler(c -> { }).listen(0, "127.0.0.1"));
      int port = s.actualPort();
      get(s.close());
      get(on(() -> client(StreamOptions.defaults()).open("127.0.0.1", port, PATH)));
    }).hasRootCauseInstanceOf(java.net.ConnectException.class).hasMessageContaining("cannot open a tensor stream");
  }

  private int serve(StreamOptions options, Handler<TensorStream> taker) throws Exception {
    HttpServer server = TensorStreamServer.create(vertx, options);
    server.requestHandler(TensorStreamServer.handler(vertx, Map.of(PATH, taker), r -> r.response().end(), options));
    return get(server.listen(0, "127.0.0.1")).actualPort();
  }

  private TensorStreamClient client(StreamOptions options) {
    return new TensorStreamClient(vertx, options);
  }

  private RegattaException failure(int port, StreamOptions options, Handler<TensorStream> use) throws Exception {
    Promise<RegattaException> failed = Promise.promise();
    get(on(() -> client(options).open("127.0.0.1", port, PATH).onSuccess(s -> {
      s.handler(f -> { });
      s.exceptionHandler(failed::complete);
      use.handle(s);
    })));
    return get(failed.future());
  }

  private <T> Future<T> on(Supplier<Future<T>> call) {
    Promise<T> p = Promise.promise();
    context.runOnContext(v -> call.get().onComplete(p));
    return p.future();
  }

  private static TensorFrame frame(int bytes) {
    return new TensorFrame(TensorMessage.newBuilder().setKind(Kind.PUSH).setJob("j").build(), ByteBuffer.allocate(bytes));
  }

  private static <T> T get(Future<T> f) throws Exception {
    return f.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }
}
