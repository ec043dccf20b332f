package io.regatta.protocol.stream;

import static io.netty.handler.codec.http2.Http2FrameTypes.GO_AWAY;
import static io.netty.handler.codec.http2.Http2FrameTypes.HEADERS;
import static io.netty.handler.codec.http2.Http2FrameTypes.RST_STREAM;
import static io.regatta.protocol.stream.Loop.get;
import static io.regatta.protocol.stream.RawHttp2.END_STREAM;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.stream.frame.TensorFrameEncoder;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A client's streams past Vert.x against a server whose frames the test writes. */
class LaneClientTest {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final StreamOptions OPTIONS = StreamOptions.defaults()
      .with(s -> s.initialWindowBytes(128 << 10).connectionWindowBytes(256 << 10)).withTransport(Transport.GRPC);

  private final Loop loop = new Loop();
  private final List<RawHttp2> servers = new ArrayList<>();
  private final TensorStreamClient client = new TensorStreamClient(loop.vertx, OPTIONS);
  private int port;

  /** A stream with the reports of its end. */
  private static final class Opened {
    TensorStream stream;
    final List<Integer> sizes = new ArrayList<>();
    final Promise<Void> ended = Promise.promise();
    final Promise<RegattaException> failed = Promise.promise();
  }

  @BeforeEach
  void listen() throws Exception {
    port = get(loop.on(() -> loop.vertx.createNetServer()
        .connectHandler(s -> servers.add(RawHttp2.accept(loop, s))).listen(0, "127.0.0.1"))).actualPort();
  }

  @AfterEach
  void close() throws Exception {
    get(client.close());
    loop.close();
  }

  @Test
  void behind_a_goaway_the_streams_it_names_finish_and_the_others_fail_and_open_anew() throws Exception {
    Opened kept = open();
    Opened refused = open();
    RawHttp2 server = servers.get(0);
    Buffer message = message(1000);
    server.send(server.answer(1).appendBuffer(RawHttp2.data(1, 0, message.getBuffer(0, 400))));
    server.send(goAway(1));
    assertThat(get(refused.failed.future())).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("GOAWAY");
    Opened anew = open();
    assertThat(servers).hasSize(2);
    RawHttp2 second = servers.get(1);
    second.send(second.answer(1).appendBuffer(data(1, 77)).appendBuffer(second.trailers(1)));
    get(anew.ended.future());
    assertThat(anew.sizes).containsExactly(77);
    get(loop.on(() -> kept.stream.send(frame(5000))));
    server.settle();
    assertThat(server.content(1).length()).isGreaterThan(5000);
    server.send(RawHttp2.data(1, 0, message.getBuffer(400, message.length())).appendBuffer(server.trailers(1)));
    get(kept.ended.future());
    assertThat(kept.sizes).containsExactly(1000);
    assertThat(kept.failed.future().isComplete()).isFalse();
  }

  @Test
  void an_end_that_has_come_is_no_loss_because_the_connection_goes_before_it_is_read() throws Exception {
    Opened paused = open();
    Opened open = open();
    get(loop.on(() -> Future.succeededFuture(paused.stream.pause())));
    RawHttp2 server = servers.get(0);
    server.send(server.answer(1).appendBuffer(data(1, 100)).appendBuffer(server.trailers(1)));
    server.settle();
    get(server.close());
    get(open.failed.future());
    loop.context.runOnContext(v -> paused.stream.resume());
    get(paused.ended.future());
    assertThat(paused.sizes).containsExactly(100);
    assertThat(paused.failed.future().isComplete()).isFalse();
  }

  /** A few hundred RST_STREAM are an attack to Netty, from whatever side: it closes the connection. */
  @Test
  void what_is_on_its_way_when_a_stream_is_given_up_is_answered_by_one_reset_and_costs_no_window() throws Exception {
    Opened given = open();
    Opened other = open();
    RawHttp2 server = servers.get(0);
    server.send(server.answer(1).appendBuffer(server.answer(3)).appendBuffer(data(1, 10)));
    server.settle();
    get(loop.on(() -> given.stream.fail(new Cancelled("enough"))));
    server.await(f -> f.type() == RST_STREAM && f.stream() == 1);
    Buffer frames = Buffer.buffer();
    for (int i = 0; i < 300; i++) {
      frames.appendBuffer(i % 2 == 0 ? RawHttp2.data(1, 0, Buffer.buffer(new byte[2000]))
          : RawHttp2.padded(1, 0, Buffer.buffer(new byte[1000]), 100));
    }
    server.send(frames.appendBuffer(RawHttp2.data(1, END_STREAM, Buffer.buffer(new byte[50]))), 20_000);
    server.send(data(3, 33).appendBuffer(server.trailers(3)));
    get(other.ended.future());
    assertThat(other.sizes).containsExactly(33);
    server.settle();
    assertThat(server.frames(RST_STREAM, 1)).hasSize(1);
    long sent = 150 * 2000 + 150 * 1101;
    assertThat(server.givenBack(0)).as("beyond what the window is from the beginning").isGreaterThan(sent);
  }

  private Opened open() throws Exception {
    Opened opened = new Opened();
    opened.stream = get(loop.on(() -> client.open("127.0.0.1", port, PATH).onSuccess(s -> {
      s.endHandler(v -> opened.ended.complete()).exceptionHandler(opened.failed::complete);
      s.handler(f -> opened.sizes.add(f.read().remaining()));
    })));
    assertThat(loop.onLane(opened.stream)).isTrue();
    servers.get(servers.size() - 1).await(f -> f.type() == HEADERS);
    return opened;
  }

  private static Buffer goAway(int lastStream) {
    return RawHttp2.frame(GO_AWAY, 0, 0, Buffer.buffer().appendInt(lastStream).appendInt(0));
  }

  private static TensorFrame frame(int payload) {
    return new TensorFrame(TensorMessage.getDefaultInstance(), ByteBuffer.allocate(payload));
  }

  private static Buffer message(int payload) {
    return TensorFrameEncoder.encode(frame(payload)).copy();
  }

  private static Buffer data(int stream, int payload) {
    return RawHttp2.data(stream, 0, message(payload));
  }
}
