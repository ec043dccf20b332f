package io.regatta.protocol.stream;

import static io.netty.handler.codec.http2.Http2FrameTypes.GO_AWAY;
import static io.netty.handler.codec.http2.Http2FrameTypes.HEADERS;
import static io.netty.handler.codec.http2.Http2FrameTypes.PING;
import static io.netty.handler.codec.http2.Http2FrameTypes.RST_STREAM;
import static io.netty.handler.codec.http2.Http2FrameTypes.WINDOW_UPDATE;
import static io.regatta.protocol.stream.Loop.get;
import static io.regatta.protocol.stream.RawHttp2.END_STREAM;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufAllocator;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.memory.DirectMemory;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.stream.frame.TensorFrameEncoder;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.net.impl.ConnectionBase;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The way past Vert.x with frames that the test writes: the demands of HTTP/2 on a receiver hold on it, too. */
class DataLaneTest {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final int WINDOW = 128 << 10;
  private static final StreamOptions OPTIONS = StreamOptions.defaults().with(s -> s.initialWindowBytes(WINDOW)
      .connectionWindowBytes(2 * WINDOW).maxFrameBytes(16_384).transport(Transport.GRPC));

  private final Loop loop = new Loop();
  private final List<TensorStream> streams = new ArrayList<>();
  private final List<Integer> sizes = new ArrayList<>();
  private final List<RegattaException> failures = new ArrayList<>();
  private final Promise<Void> ended = Promise.promise();
  private final Promise<RegattaException> failed = Promise.promise();
  /** The server's reaction to a frame. */
  private volatile java.util.function.BiConsumer<TensorStream, TensorFrame> use = (s, f) -> { };
  private volatile boolean pausedAtFirst;
  private int port;

  @BeforeEach
  void serve() throws Exception {
    port = loop.serve(PATH, OPTIONS, s -> {
      streams.add(s);
      if (pausedAtFirst) {
        s.pause();
      }
      s.exceptionHandler(e -> {
        failures.add(e);
        failed.tryComplete(e);
      });
      s.endHandler(v -> {
        ended.tryComplete();
        s.end();
      });
      s.handler(f -> {
        sizes.add(f.read().remaining());
        use.accept(s, f);
      });
    }).actualPort();
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  private RawHttp2 open(int stream) throws Exception {
    RawHttp2 raw = RawHttp2.connect(loop, port).awaitPing();
    raw.send(raw.call(stream, PATH));
    raw.await(f -> f.type() == HEADERS && f.stream() == stream);
    assertThat(onLane(stream / 2)).as("the stream goes past Vert.x").isTrue();
    return raw;
  }

  private boolean onLane(int index) throws Exception {
    return loop.onLane(streams.get(index));
  }

  @Test
  void the_socket_is_read_into_pooled_memory_without_a_flag_for_the_jvm() throws Exception {
    HttpClient client = loop.vertx.createHttpClient(OPTIONS.clientOptions());
    ByteBufAllocator allocator = get(loop.on(() -> client.request(HttpMethod.POST, port, "127.0.0.1", PATH)
        .compose(r -> OPTIONS.lane(r.connection())
            .map(lane -> lane ? ((ConnectionBase) r.connection()).channel().config().getAllocator() : null))));
    assertThat(allocator).isSameAs(DirectMemory.ALLOCATOR);
    get(client.close());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 9, 13, 1000})
  void frames_cut_anywhere_with_padding_of_any_length_arrive_whole(int cut) throws Exception {
    RawHttp2 raw = open(1);
    Buffer message = message(700);
    Buffer wire = Buffer.buffer();
    int at = 0;
    for (int pad : new int[] {0, 1, 255}) {
      wire.appendBuffer(RawHttp2.padded(1, 0, message.getBuffer(at, at + 100), pad));
      wire.appendBuffer(RawHttp2.frame(PING, 0, 0, Buffer.buffer(new byte[8]))); // others come between
      wire.appendBuffer(RawHttp2.padded(1, 0, Buffer.buffer(), pad));
      wire.appendBuffer(RawHttp2.data(1, 0, Buffer.buffer()));
      at += 100;
    }
    wire.appendBuffer(RawHttp2.padded(1, END_STREAM, message.getBuffer(at, message.length()), 3));
    raw.send(wire, cut);
    get(ended.future());
    assertThat(sizes).containsExactly(700);
    raw.await(f -> isEnd(f, 1)); // the trailers
  }

  @Test
  void a_frame_that_is_flushed_by_itself_leaves_while_others_are_read() throws Exception {
    List<Future<Void>> sent = new ArrayList<>();
    Promise<Boolean> gone = Promise.promise();
    use = (s, f) -> {
      if (sent.isEmpty()) {
        sent.add(s.flushEach().send(f));
      } else {
        gone.complete(sent.get(0).isComplete());
      }
    };
    open(1).send(RawHttp2.data(1, 0, message(10).appendBuffer(message(20))));
    assertThat(get(gone.future())).isTrue();
  }

  @Test
  void windows_are_given_back_for_content_and_padding() throws Exception {
    RawHttp2 raw = open(1);
    int frames = 64;
    Buffer wire = Buffer.buffer();
    for (int i = 0; i < frames; i++) {
      wire.appendBuffer(RawHttp2.padded(1, 0, message(1000), 200));
    }
    long sent = frames * (message(1000).length() + 201L);
    assertThat(sent).isGreaterThan(WINDOW / 2);
    raw.send(wire);
    raw.await(f -> f.type() == WINDOW_UPDATE && f.stream() == 1);
    assertThat(raw.givenBack(1)).isGreaterThan(WINDOW / 2).isLessThanOrEqualTo(sent);
  }

  @Test
  void empty_frames_without_end_are_not_endless() throws Exception {
    RawHttp2 raw = open(1);
    Buffer wire = Buffer.buffer();
    for (int i = 0; i < 10; i++) {
      wire.appendBuffer(RawHttp2.data(1, 0, Buffer.buffer()));
    }
    raw.send(wire);
    assertThat(goAway(raw)).as("ENHANCE_YOUR_CALM").isEqualTo(11);
  }

  @Test
  void a_frame_beyond_the_limit_ends_the_connection() throws Exception {
    RawHttp2 raw = open(1);
    raw.send(RawHttp2.data(1, 0, Buffer.buffer(new byte[16_385])));
    assertThat(goAway(raw)).as("FRAME_SIZE_ERROR").isEqualTo(6);
    assertThat(get(failed.future())).isInstanceOf(PeerLost.class);
  }

  @Test
  void padding_longer_than_its_frame_ends_the_connection() throws Exception {
    RawHttp2 raw = open(1);
    raw.send(RawHttp2.data(1, RawHttp2.PADDED, Buffer.buffer(new byte[] {9, 0, 0})));
    assertThat(goAway(raw)).as("PROTOCOL_ERROR").isEqualTo(1);
    assertThat(get(failed.future())).isInstanceOf(PeerLost.class);
  }

  @Test
  void more_than_the_window_allows_resets_the_stream_and_the_connection_lives() throws Exception {
    pausedAtFirst = true;
    RawHttp2 raw = open(1);
    Buffer sixteen = Buffer.buffer(new byte[16_000]);
    for (int i = 0; i <= WINDOW / 16_000; i++) {
      raw.send(RawHttp2.data(1, 0, sixteen));
    }
    assertThat(raw.await(f -> f.type() == RST_STREAM && f.stream() == 1).payload().getInt(0))
        .as("FLOW_CONTROL_ERROR").isEqualTo(3);
    pausedAtFirst = false;
    raw.send(raw.call(3, PATH));
    raw.send(RawHttp2.data(3, END_STREAM, message(5)));
    raw.await(f -> isEnd(f, 3));
    assertThat(sizes).containsExactly(5);
  }

  @Test
  void a_reset_in_the_middle_of_a_message_is_told_and_other_streams_go_on() throws Exception {
    RawHttp2 raw = open(1);
    raw.send(raw.call(3, PATH));
    raw.send(RawHttp2.data(1, 0, message(500).getBuffer(0, 300)));
    raw.send(RawHttp2.frame(RST_STREAM, 0, 1, Buffer.buffer().appendInt(8)));
    assertThat(get(failed.future())).isInstanceOf(PeerLost.class);
    raw.send(RawHttp2.data(3, END_STREAM, message(7)));
    get(ended.future());
    assertThat(sizes).containsExactly(7);
  }

  @Test
  void what_comes_for_a_stream_given_up_is_dropped_and_costs_the_connection_nothing() throws Exception {
    use = (s, f) -> {
      if (f.read().remaining() == 1) {
        s.fail(new Overloaded("enough"));
      }
    };
    RawHttp2 raw = open(1);
    Buffer frame = RawHttp2.data(1, 0, message(1).appendBuffer(message(10_000)));
    raw.send(frame.getBuffer(0, 60)); // given up in the middle of a frame
    raw.await(f -> isEnd(f, 1));
    raw.send(frame.getBuffer(60, frame.length()));
    raw.send(RawHttp2.data(1, 0, Buffer.buffer(new byte[16_000])));
    raw.send(raw.call(3, PATH));
    int rounds = 10;
    for (int i = 0; i < rounds; i++) { // all rounds together are several times the connection's window
      int before = sizes.size();
      Promise<Void> read = Promise.promise();
      use = (s, f) -> {
        if (sizes.size() == before + 4) {
          read.complete();
        }
      };
      for (int k = 0; k < 4; k++) {
        raw.send(RawHttp2.data(3, 0, message(15_000)));
      }
      get(read.future());
    }
    assertThat(raw.givenBack(0)).isGreaterThan(2L * WINDOW);
    assertThat(failures).isEmpty();
  }

  @Test
  void a_peer_that_answers_no_ping_is_served_the_ordinary_way() throws Exception {
    RawHttp2 raw = RawHttp2.connect(loop, port);
    raw.send(raw.call(1, PATH).appendBuffer(RawHttp2.data(1, END_STREAM, message(40))));
    get(ended.future());
    assertThat(sizes).containsExactly(40);
    raw.await(f -> isEnd(f, 1));
  }

  @Test
  void our_own_client_and_server_both_go_past_vertx() throws Exception {
    TensorStream client = loop.open(port, PATH, OPTIONS, s -> {
      s.handler(f -> { });
      s.send(new TensorFrame(TensorMessage.getDefaultInstance(), ByteBuffer.allocate(100)));
      s.end();
    });
    get(ended.future());
    assertThat(((HttpTensorStream) client).hasLane()).isTrue();
    assertThat(onLane(0)).isTrue();
  }

  @Test
  void the_plain_transport_never_does() throws Exception {
    TensorStream client = loop.open(port, PATH, OPTIONS.withTransport(Transport.GRPC_PLAIN), s -> {
      s.handler(f -> { });
      s.end();
    });
    get(ended.future());
    assertThat(((HttpTensorStream) client).hasLane()).isFalse();
  }

  private static boolean isEnd(RawHttp2.Frame f, int stream) {
    return f.type() == HEADERS && f.stream() == stream && (f.flags() & END_STREAM) != 0;
  }

  private static int goAway(RawHttp2 raw) throws Exception {
    return raw.await(f -> f.type() == GO_AWAY).payload().getInt(4);
  }

  private static Buffer message(int payload) {
    return TensorFrameEncoder.encode(new TensorFrame(TensorMessage.newBuilder().setJob("j").build(),
        ByteBuffer.allocate(payload))).copy();
  }
}
