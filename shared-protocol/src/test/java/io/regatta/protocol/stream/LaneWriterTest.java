package io.regatta.protocol.stream;

import static io.netty.handler.codec.http2.Http2CodecUtil.SETTINGS_INITIAL_WINDOW_SIZE;
import static io.netty.handler.codec.http2.Http2CodecUtil.SETTINGS_MAX_FRAME_SIZE;
import static io.netty.handler.codec.http2.Http2FrameTypes.DATA;
import static io.netty.handler.codec.http2.Http2FrameTypes.GO_AWAY;
import static io.netty.handler.codec.http2.Http2FrameTypes.HEADERS;
import static io.netty.handler.codec.http2.Http2FrameTypes.RST_STREAM;
import static io.regatta.protocol.stream.Loop.get;
import static io.regatta.protocol.stream.RawHttp2.settings;
import static io.regatta.protocol.stream.RawHttp2.windowUpdate;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.stream.frame.TensorFrameEncoder;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Writes past Vert.x keep within the peer's windows and frame size, also when they change on the way. */
class LaneWriterTest {
  private static final String PATH = "/regatta.Test/Exchange";
  /** HTTP/2's own, which the peer does not change at first: of a stream, and of the connection. */
  private static final int WINDOW = 65_535;
  private static final int FRAME = 16_384;
  private static final int ROOM = 1 << 24;

  private final Loop loop = new Loop();
  private final List<TensorStream> streams = new ArrayList<>();
  private RawHttp2 peer;

  @BeforeEach
  void connect() throws Exception {
    int port = loop.serve(PATH, StreamOptions.defaults().withTransport(Transport.GRPC), s -> {
      streams.add(s);
      s.handler(f -> { });
    }).actualPort();
    peer = RawHttp2.connect(loop, port).awaitPing();
    open(1);
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  @Test
  void it_stops_at_the_streams_window_and_at_the_connections_and_goes_on_behind_each() throws Exception {
    Future<Void> sent = send(0, 200_000);
    assertCame(1, WINDOW);
    peer.send(windowUpdate(0, 100_000));
    assertCame(1, WINDOW); // the stream's own is used up
    peer.send(windowUpdate(1, 50_000));
    assertCame(1, WINDOW + 50_000);
    peer.send(windowUpdate(1, ROOM));
    assertCame(1, WINDOW + 100_000); // now the connection's is
    assertThat(sent.isComplete()).isFalse();
    peer.send(windowUpdate(0, ROOM));
    get(sent);
    assertWhole(1, 200_000);
  }

  @Test
  void streams_share_the_connections_window() throws Exception {
    open(3);
    Future<Void> first = send(0, 40_000);
    Future<Void> second = send(1, 40_000);
    get(first);
    peer.settle();
    assertThat(peer.content(1).length() + peer.content(3).length()).isEqualTo(WINDOW);
    assertThat(second.isComplete()).isFalse();
    peer.send(windowUpdate(0, ROOM));
    get(second);
    assertWhole(1, 40_000);
    assertWhole(3, 40_000);
  }

  @Test
  void a_window_made_smaller_in_the_middle_of_a_tensor_is_paid_off_first() throws Exception {
    peer.send(windowUpdate(0, ROOM));
    Future<Void> sent = send(0, 200_000);
    assertCame(1, WINDOW);
    peer.send(settings(SETTINGS_INITIAL_WINDOW_SIZE, 1000)); // the stream's is negative now
    assertCame(1, WINDOW);
    peer.send(windowUpdate(1, WINDOW - 1000));
    assertCame(1, WINDOW);
    peer.send(windowUpdate(1, 500));
    assertCame(1, WINDOW + 500);
    assertThat(sent.isComplete()).isFalse();
    peer.send(settings(SETTINGS_INITIAL_WINDOW_SIZE, 300_000));
    get(sent);
    assertWhole(1, 200_000);
  }

  @Test
  void frames_are_as_long_as_the_peer_takes_them_at_the_time() throws Exception {
    Future<Void> sent = send(0, 400_000);
    assertCame(1, WINDOW);
    assertThat(longest(0)).isEqualTo(FRAME);
    int before = peer.frames(DATA, 1).size();
    peer.send(settings(SETTINGS_MAX_FRAME_SIZE, 40_000).appendBuffer(windowUpdate(0, ROOM))
        .appendBuffer(windowUpdate(1, 100_000)));
    assertCame(1, WINDOW + 100_000);
    assertThat(longest(before)).isEqualTo(40_000);
    before = peer.frames(DATA, 1).size();
    peer.send(settings(SETTINGS_MAX_FRAME_SIZE, FRAME).appendBuffer(windowUpdate(1, ROOM)));
    get(sent);
    peer.settle();
    assertThat(longest(before)).isEqualTo(FRAME);
    assertWhole(1, 400_000);
  }

  /** A peer that knows the stream no more may answer each frame of ours that was on its way. */
  @Test
  void a_reset_for_each_frame_on_its_way_does_not_end_the_connection() throws Exception {
    Buffer resets = Buffer.buffer();
    for (int i = 0; i < 1000; i++) {
      resets.appendBuffer(RawHttp2.frame(RST_STREAM, 0, 1, Buffer.buffer().appendInt(5)));
    }
    peer.send(resets);
    peer.settle();
    assertThat(peer.frames(GO_AWAY, 0)).isEmpty();
    open(3);
    get(send(1, 1000));
    assertWhole(3, 1000);
  }

  private int longest(int fromFrame) throws Exception {
    return peer.frames(DATA, 1).stream().skip(fromFrame).mapToInt(f -> f.payload().length()).max().orElse(0);
  }

  private void open(int stream) throws Exception {
    peer.send(peer.call(stream, PATH));
    peer.await(f -> f.type() == HEADERS && f.stream() == stream);
    assertThat(loop.onLane(streams.get(stream / 2))).isTrue();
  }

  private Future<Void> send(int index, int bytes) {
    return loop.on(() -> streams.get(index).send(frame(bytes)));
  }

  private void assertCame(int stream, int bytes) throws Exception {
    peer.settle();
    assertThat(peer.content(stream).length()).isEqualTo(bytes);
  }

  private void assertWhole(int stream, int bytes) throws Exception {
    peer.settle();
    Buffer expected = TensorFrameEncoder.encode(frame(bytes));
    assertThat(peer.content(stream)).isEqualTo(expected.copy());
  }

  private static TensorFrame frame(int bytes) {
    ByteBuffer payload = ByteBuffer.allocateDirect(bytes);
    for (int i = 0; i < bytes; i++) {
      payload.put(i, (byte) (i * 31 >> 3));
    }
    return new TensorFrame(TensorMessage.newBuilder().setJob("j").build(), payload);
  }
}
