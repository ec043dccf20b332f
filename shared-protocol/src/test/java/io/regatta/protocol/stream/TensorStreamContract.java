package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The contract of streams on every transport: their ends, and the notices of them. */
abstract class TensorStreamContract {
  static final String PATH = "/regatta.Test/Exchange";

  final Loop loop = new Loop();
  final StreamOptions options;

  TensorStreamContract(Transport transport) {
    this(transport, PeerSecurity.NONE);
  }

  TensorStreamContract(Transport transport, PeerSecurity security) {
    options = StreamOptions.defaults().withTransport(transport).withSecurity(security);
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  @Test
  void an_echo_comes_back_and_both_sides_end_cleanly() throws Exception {
    int port = serve(s -> s.endHandler(v -> s.end()).handler(s::send));
    Promise<Long> ended = Promise.promise();
    loop.open(port, PATH, options, s -> {
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
  void the_text_of_a_status_reaches_the_client_whatever_its_letters() throws Exception {
    String text = "100 % of rank 3's rows + more – too many: größer als erlaubt \uD83D\uDE00";
    int port = serve(s -> s.handler(f -> s.fail(new Overloaded(text))));
    assertThat(failure(port, s -> s.send(frame(1)))).isInstanceOf(Overloaded.class).hasMessage(text);
  }

  @Test
  void frames_sent_before_an_error_arrive_before_it() throws Exception {
    int port = serve(s -> s.handler(f -> {
      s.send(f);
      s.fail(new Overloaded("after it"));
    }));
    List<Object> events = new ArrayList<>();
    Promise<Void> over = Promise.promise();
    loop.open(port, PATH, options, s -> {
      s.exceptionHandler(e -> {
        events.add(e.getMessage());
        over.complete();
      });
      s.handler(f -> events.add(f.header().getBodyCase()));
      s.send(frame(10));
    });
    get(over.future());
    assertThat(events).containsExactly(BodyCase.PUSH, "after it");
  }

  @Test
  void a_client_that_gives_up_is_seen_by_the_server_and_hears_nothing_more() throws Exception {
    Promise<RegattaException> server = Promise.promise();
    Promise<String> peer = Promise.promise();
    int port = serve(s -> {
      peer.complete(s.peer());
      s.exceptionHandler(server::complete).endHandler(v -> server.fail("a clean end")).handler(s::send);
    });
    Promise<Void> heard = Promise.promise();
    TensorStream stream = loop.open(port, PATH, options, s -> {
      s.exceptionHandler(heard::tryFail).endHandler(v -> heard.fail("end"));
      s.handler(f -> {
        s.fail(new Cancelled("enough"));
        loop.context.runOnContext(v -> heard.tryComplete());
      });
      s.send(frame(1));
    });
    assertThat(get(server.future())).isInstanceOf(PeerLost.class).hasMessageContaining(get(peer.future()));
    get(heard.future());
    assertThatThrownBy(() -> get(loop.on(() -> stream.send(frame(1))))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("127.0.0.1:" + port);
  }

  @Test
  void a_client_that_vanishes_after_its_end_is_seen_by_the_server_that_still_owes_answers() throws Exception {
    Promise<Void> ended = Promise.promise();
    Promise<RegattaException> lost = Promise.promise();
    int port = serve(s -> s.endHandler(v -> ended.complete()).exceptionHandler(lost::complete).handler(s::send));
    TensorStream stream = loop.open(port, PATH, options, s -> {
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
  void a_client_that_closes_breaks_its_streams_and_the_server_is_told() throws Exception {
    Promise<RegattaException> told = Promise.promise();
    int port = serve(s -> s.exceptionHandler(told::complete).handler(s::send));
    Promise<RegattaException> broken = Promise.promise();
    TensorStreamClient client = new TensorStreamClient(loop.vertx, options);
    get(loop.on(() -> client.open("127.0.0.1", port, PATH).onSuccess(s -> {
      s.exceptionHandler(broken::complete).handler(f -> loop.context.runOnContext(v -> client.close()));
      s.send(frame(1));
    })));
    assertThat(get(broken.future())).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1:" + port);
    assertThat(get(told.future())).isInstanceOf(PeerLost.class);
  }

  @Test
  void a_payload_is_read_as_it_was_when_it_was_sent() throws Exception {
    Promise<Integer> seen = Promise.promise();
    int port = serve(s -> s.handler(f -> seen.complete((int) f.read().get(0))));
    loop.open(port, PATH, options, s -> {
      ByteBuffer payload = ByteBuffer.allocateDirect(1 << 16).put(0, (byte) 7);
      s.handler(f -> { });
      s.send(new TensorFrame(TensorMessage.getDefaultInstance(), payload)).onSuccess(v -> payload.put(0, (byte) 8));
    });
    assertThat(get(seen.future())).isEqualTo(7);
  }

  @Test
  void a_frame_that_the_peer_will_not_read_fails_with_the_reason() throws Exception {
    StreamOptions narrow = options.with(s -> s.initialWindowBytes(65_535).connectionWindowBytes(65_535));
    int port = loop.serve(PATH, narrow, s -> s.handler(f -> s.fail(new Overloaded("enough")))).actualPort();
    Promise<Void> sent = Promise.promise();
    loop.open(port, PATH, narrow, s -> {
      s.handler(f -> { });
      s.send(frame(1));
      s.send(frame(1 << 20)).onComplete(sent); // more than the window, so that it waits
    });
    assertThatThrownBy(() -> get(sent.future())).isInstanceOf(Overloaded.class).hasMessage("enough");
  }

  @Test
  void a_frame_that_the_service_will_not_read_because_the_client_gave_up_fails() throws Exception {
    int port = serve(s -> s.pause().handler(f -> { }));
    Promise<Void> sent = Promise.promise();
    TensorStream stream = loop.open(port, PATH, options.with(s -> s.initialWindowBytes(65_535).connectionWindowBytes(65_535)), s -> {
      s.handler(f -> { });
      for (int i = 0; i < 24; i++) { // more than socket and queues take
        s.send(frame(1 << 20));
      }
      s.send(frame(1)).onComplete(sent);
    });
    loop.context.runOnContext(v -> stream.fail(new Cancelled("enough")));
    assertThatThrownBy(() -> get(sent.future())).isInstanceOf(PeerLost.class);
  }

  @Test
  void a_loss_is_told_once() throws Exception {
    List<RegattaException> told = new ArrayList<>();
    Promise<Void> first = Promise.promise();
    int port = serve(s -> s.exceptionHandler(e -> {
      told.add(e);
      first.tryComplete();
    }).handler(s::send));
    TensorStreamClient client = new TensorStreamClient(loop.vertx, options);
    get(loop.on(() -> client.open("127.0.0.1", port, PATH).onSuccess(s -> {
      s.handler(f -> loop.context.runOnContext(v -> client.close()));
      s.send(frame(1));
    })));
    get(first.future());
    loop.open(port, PATH, options, s -> { }); // a round trip over the same loop
    assertThat(told).hasSize(1);
  }

  @Test
  void a_message_beyond_the_receivers_limit_is_refused() throws Exception {
    StreamOptions small = options
        .with(s -> s.chunkBytes(4096).maxMessageBytes(8192).maxRequestBytes(1 << 20).maxRequests(4));
    int port = loop.serve(PATH, small, s -> s.handler(s::send)).actualPort();
    assertThat(failure(port, s -> s.send(frame(8192)))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("stream.max_message_bytes = 8192");
  }

  final int serve(Handler<TensorStream> taker) throws Exception {
    return loop.serve(PATH, options, taker).actualPort();
  }

  final RegattaException failure(int port, Handler<TensorStream> use) throws Exception {
    Promise<RegattaException> failed = Promise.promise();
    loop.open(port, PATH, options, s -> {
      s.exceptionHandler(failed::complete).endHandler(v -> failed.fail("a clean end"));
      s.handler(f -> { });
      use.handle(s);
    });
    return get(failed.future());
  }

  static TensorFrame frame(int bytes) {
    return new TensorFrame(TensorMessage.newBuilder().setPush(Push.getDefaultInstance()).setJob("j").build(), ByteBuffer.allocate(bytes));
  }
}
