package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.tensor.Kind;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.NetServer;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Streams over real connections: many of them, how they end, and who is told. */
class TensorStreamTest {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final StreamOptions DEFAULTS = StreamOptions.defaults();

  private final Loop loop = new Loop();

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  @Test
  void an_echo_comes_back_and_both_sides_end_cleanly() throws Exception {
    int port = serve(s -> s.endHandler(v -> s.end()).handler(s::send));
    Promise<Long> ended = Promise.promise();
    loop.open(port, PATH, DEFAULTS, s -> {
      long[] seen = {0};
      s.endHandler(v -> ended.complete(seen[0])).exceptionHandler(ended::tryFail);
      s.handler(f -> seen[0] += f.read().remaining());
      s.send(frame(1 << 20));
      s.send(frame(0));
      s.end();
    });
    assertThat(get(ended.future())).isEqualTo(1L << 20);
  }

  @Test
  void many_streams_share_one_connection_and_none_disturbs_another() throws Exception {
    int streams = 200;
    List<Integer> connections = new ArrayList<>();
    int port = serve(s -> s.endHandler(v -> s.end()).handler(f -> {
      if (f.header().getRequest() % 3 == 0) {
        s.fail(new Overloaded("every third"));
      } else {
        s.send(f);
      }
    }), connections);
    TensorStreamClient client = new TensorStreamClient(loop.vertx, DEFAULTS);
    List<Future<Long>> answers = new ArrayList<>();
    for (int i = 0; i < streams; i++) {
      int request = i;
      Promise<Long> answer = Promise.promise();
      answers.add(answer.future());
      loop.on(() -> client.open("127.0.0.1", port, PATH).onFailure(answer::tryFail).onSuccess(s -> {
        s.exceptionHandler(answer::tryFail).handler(f -> answer.complete(f.header().getRequest()));
        s.send(TensorFrame.of(TensorMessage.newBuilder().setRequest(request).build()));
      }));
    }
    for (int i = 0; i < streams; i++) {
      if (i % 3 == 0) {
        Future<Long> refused = answers.get(i);
        assertThatThrownBy(() -> get(refused)).isInstanceOf(Overloaded.class).hasMessage("every third");
      } else {
        assertThat(get(answers.get(i))).isEqualTo(i);
      }
    }
    assertThat(connections).as("remote ports seen by the server").hasSize(streams);
    assertThat(connections.stream().distinct()).hasSize(1);
  }

  @Test
  void the_text_of_a_status_reaches_the_client_whatever_its_letters() throws Exception {
    String text = "100 % of rank 3's rows + more – too many: größer als erlaubt \uD83D\uDE00";
    int port = serve(s -> s.handler(f -> s.fail(new Overloaded(text))));
    assertThat(failure(port, s -> s.send(frame(1)))).isInstanceOf(Overloaded.class).hasMessage(text);
  }

  @Test
  void a_text_too_long_for_a_header_is_cut_and_the_connection_lives() throws Exception {
    int port = serve(s -> s.handler(f -> s.fail(new InvalidInput("ü".repeat(50_000)))));
    for (int i = 0; i < 2; i++) {
      assertThat(failure(port, s -> s.send(frame(1)))).isInstanceOf(InvalidInput.class).hasMessageStartingWith("üüü")
          .hasMessageEndingWith("...");
    }
  }

  @Test
  void frames_sent_before_an_error_arrive_before_it() throws Exception {
    int port = serve(s -> s.handler(f -> {
      s.send(f);
      s.fail(new Overloaded("after it"));
    }));
    List<Object> events = new ArrayList<>();
    Promise<Void> over = Promise.promise();
    loop.open(port, PATH, DEFAULTS, s -> {
      s.exceptionHandler(e -> {
        events.add(e.getMessage());
        over.complete();
      });
      s.handler(f -> events.add(f.header().getKind()));
      s.send(frame(10));
    });
    get(over.future());
    assertThat(events).containsExactly(Kind.PUSH, "after it");
  }

  @Test
  void a_client_that_gives_up_is_seen_by_the_server_and_hears_nothing_more() throws Exception {
    Promise<RegattaException> server = Promise.promise();
    int port = serve(s -> s.exceptionHandler(server::complete).endHandler(v -> server.fail("a clean end"))
        .handler(s::send));
    Promise<Void> heard = Promise.promise();
    TensorStream stream = loop.open(port, PATH, DEFAULTS, s -> {
      s.exceptionHandler(heard::tryFail).endHandler(v -> heard.fail("end"));
      s.handler(f -> {
        s.fail(new Cancelled("enough"));
        loop.context.runOnContext(v -> heard.tryComplete());
      });
      s.send(frame(1));
    });
    assertThat(get(server.future())).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1");
    get(heard.future());
    assertThatThrownBy(() -> get(loop.on(() -> stream.send(frame(1))))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("127.0.0.1:" + port);
  }

  @Test
  void a_client_that_vanishes_after_its_end_is_seen_by_the_server_that_still_owes_answers() throws Exception {
    Promise<Void> ended = Promise.promise();
    Promise<RegattaException> lost = Promise.promise();
    int port = serve(s -> s.endHandler(v -> ended.complete()).exceptionHandler(lost::complete).handler(s::send));
    TensorStream stream = loop.open(port, PATH, DEFAULTS, s -> {
      s.handler(f -> { });
      s.send(frame(1));
      s.end();
    });
    get(ended.future());
    assertThat(lost.future().isComplete()).isFalse();
    loop.context.runOnContext(v -> stream.fail(new Cancelled("enough")));
    assertThat(get(lost.future())).isInstanceOf(PeerLost.class);
  }

  @Test
  void a_server_that_stops_is_named() throws Exception {
    HttpServer server = loop.serve(PATH, DEFAULTS, s -> s.handler(f -> { }));
    int port = server.actualPort();
    Promise<RegattaException> failed = Promise.promise();
    loop.open(port, PATH, DEFAULTS, s -> s.exceptionHandler(failed::complete).handler(f -> { }));
    get(server.close());
    assertThat(get(failed.future())).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1:" + port);
  }

  @Test
  void a_port_that_speaks_something_else_is_named() throws Exception {
    int port = serve(s -> s.handler(f -> { }));
    Promise<RegattaException> failed = Promise.promise();
    loop.open(port, "/other.Service/Call", DEFAULTS, s -> s.exceptionHandler(failed::complete).handler(f -> { }));
    assertThat(get(failed.future())).isInstanceOf(InvalidInput.class).hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("HTTP status 404");
  }

  @Test
  void a_port_where_nobody_listens_is_named() throws Exception {
    NetServer gone = get(loop.vertx.createNetServer().connectHandler(c -> { }).listen(0, "127.0.0.1"));
    int port = gone.actualPort();
    get(gone.close());
    assertThatThrownBy(() -> loop.open(port, PATH, DEFAULTS, s -> { })).isInstanceOf(PeerLost.class)
        .hasRootCauseInstanceOf(ConnectException.class).hasMessageContaining("127.0.0.1:" + port);
  }

  private int serve(Handler<TensorStream> taker) throws Exception {
    return serve(taker, new ArrayList<>());
  }

  /** @param ports the remote port of every stream */
  private int serve(Handler<TensorStream> taker, List<Integer> ports) throws Exception {
    return loop.serve(PATH, DEFAULTS, s -> {
      ports.add(Integer.valueOf(s.peer().substring(s.peer().lastIndexOf(':') + 1)));
      taker.handle(s);
    }).actualPort();
  }

  private RegattaException failure(int port, Handler<TensorStream> use) throws Exception {
    Promise<RegattaException> failed = Promise.promise();
    loop.open(port, PATH, DEFAULTS, s -> {
      s.exceptionHandler(failed::complete).endHandler(v -> failed.fail("a clean end"));
      s.handler(f -> { });
      use.handle(s);
    });
    return get(failed.future());
  }

  private static TensorFrame frame(int bytes) {
    return new TensorFrame(TensorMessage.newBuilder().setKind(Kind.PUSH).setJob("j").build(), ByteBuffer.allocate(bytes));
  }
}
