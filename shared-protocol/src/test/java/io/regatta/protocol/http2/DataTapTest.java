package io.regatta.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** The frames that the tap takes and those that it leaves to Netty's handler, at any fragmentation by the network. */
class DataTapTest {
  private static final long PING = 0x0102030405060708L;
  /** Its DATA is for a sink; that of stream 3 is not. */
  private static final int TAPPED = 1;

  /** A server's connection with a tap in front of its handler, fed by the test. */
  private static final class Connection {
    private final ByteBuf tapped = Unpooled.buffer();
    private final ByteBuf passedOn = Unpooled.buffer();
    private final List<Long> pings = new ArrayList<>();
    private final List<Integer> ended = new ArrayList<>();
    /** Whether streams could have been taken over when they were opened. */
    private final List<Boolean> readyWhenOpened = new ArrayList<>();
    private final List<ByteBuf> fed = new ArrayList<>();
    private final Http2ConnectionHandler http2 = new Http2ConnectionHandlerBuilder().server(true)
        .frameListener(new Listener()).build();
    private final EmbeddedChannel channel = new EmbeddedChannel(http2);
    private final ChannelHandlerContext ctx = channel.pipeline().context(http2);
    private final DefaultHttp2HeadersEncoder hpack = new DefaultHttp2HeadersEncoder();
    private boolean found;
    private final DataTap tap = new DataTap(http2, 16_384, PING, () -> found = true);

    /** The frames that the handler sees. */
    private final class Listener extends Http2FrameAdapter {
      @Override
      public int onDataRead(ChannelHandlerContext ctx, int stream, ByteBuf data, int padding, boolean end) {
        int bytes = data.readableBytes() + padding;
        passedOn.writeBytes(data, data.readerIndex(), data.readableBytes());
        if (end) {
          ended.add(stream);
        }
        return bytes;
      }

      @Override
      public void onHeadersRead(ChannelHandlerContext ctx, int stream, Http2Headers headers, int dependency,
          short weight, boolean exclusive, int padding, boolean end) {
        readyWhenOpened.add(tap.ready());
      }

      @Override
      public void onPingRead(ChannelHandlerContext ctx, long data) {
        pings.add(data);
      }
    }

    /** The bytes that open streams 1 and 3, with the answer to our PING at their end. */
    private ByteBuf opened() throws Exception {
      channel.pipeline().addBefore(ctx.name(), "tap", tap);
      tap.register(TAPPED, bytes -> {
        int n = bytes.readableBytes();
        tapped.writeBytes(bytes);
        bytes.release();
        tap.consumed(ctx, http2.connection().stream(TAPPED), n);
      });
      ByteBuf wire = Unpooled.buffer().writeBytes(Http2CodecUtil.connectionPrefaceBuf());
      frame(wire, Http2FrameTypes.SETTINGS, 0, 0, Unpooled.EMPTY_BUFFER);
      for (int stream : new int[] {TAPPED, 3}) {
        ByteBuf block = Unpooled.buffer();
        hpack.encodeHeaders(stream, new DefaultHttp2Headers().method("POST").scheme("http").path("/"), block);
        frame(wire, Http2FrameTypes.HEADERS, 4, stream, block);
      }
      frame(wire, Http2FrameTypes.PING, 1, 0, Unpooled.buffer().writeLong(PING));
      return wire;
    }

    private void feed(ByteBuf wire, List<Integer> cuts) {
      for (int i = 0; wire.isReadable(); i++) {
        ByteBuf piece = wire.readBytes(Math.min(wire.readableBytes(), cuts.get(i % cuts.size())));
        fed.add(piece);
        channel.writeInbound(piece);
      }
    }

    private int goAway() {
      for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
        if (out.readableBytes() >= 17 && out.getByte(3) == Http2FrameTypes.GO_AWAY) {
          return out.getInt(13);
        }
      }
      return -1;
    }
  }

  @Property(tries = 300)
  void any_cut_of_the_bytes_gives_the_same_content(
      @ForAll @Size(max = 12) List<@IntRange(min = 1, max = 400) Integer> sizes,
      @ForAll @Size(min = 1, max = 12) List<@IntRange(min = -200, max = 255) Integer> paddings,
      @ForAll @Size(min = 1, max = 12) List<@IntRange(min = 1, max = 700) Integer> cuts, @ForAll boolean small)
      throws Exception {
    Connection c = new Connection();
    ByteBuf wire = c.opened();
    ByteBuf expected = Unpooled.buffer();
    ByteBuf others = Unpooled.buffer();
    for (int i = 0; i < sizes.size(); i++) {
      byte[] content = new byte[sizes.get(i)];
      for (int k = 0; k < content.length; k++) {
        content[k] = (byte) (i * 7 + k);
      }
      int stream = i % 3 == 2 ? 3 : TAPPED;
      (stream == TAPPED ? expected : others).writeBytes(content);
      data(wire, stream, 0, content, paddings.get(i % paddings.size()));
      if (i % 4 == 1) {
        frame(wire, Http2FrameTypes.PING, 0, 0, Unpooled.buffer().writeLong(i));
      }
    }
    data(wire, TAPPED, 1, new byte[0], paddings.get(0));
    c.feed(wire, small ? List.of(1, 2, 3) : cuts);
    assertThat(c.tapped).isEqualTo(expected);
    assertThat(c.passedOn).isEqualTo(others);
    assertThat(c.pings).hasSize((sizes.size() + 2) / 4);
    assertThat(c.ended).containsExactly(TAPPED);
    assertThat(c.http2.connection().stream(TAPPED).state().remoteSideOpen()).isFalse();
    assertThat(c.http2.decoder().flowController().unconsumedBytes(c.http2.connection().stream(TAPPED))).isZero();
    assertThat(c.fed).allMatch(b -> b.refCnt() == 0);
  }

  /** A client need not wait for settings: its first stream, and content of it, may come with the PING's answer. */
  @Test
  void a_stream_that_opens_before_the_pings_answer_is_not_taken_over() throws Exception {
    Connection c = new Connection();
    ByteBuf wire = c.opened();
    c.feed(wire, List.of(wire.readableBytes()));
    assertThat(c.readyWhenOpened).containsExactly(false, false);
    assertThat(c.tap.ready()).isTrue();
  }

  @Test
  void until_the_pings_answer_everything_is_the_handlers() throws Exception {
    Connection c = new Connection();
    ByteBuf wire = c.opened();
    wire.writerIndex(wire.writerIndex() - 17); // without the answer
    data(wire, TAPPED, 0, new byte[] {1, 2, 3}, -1);
    c.feed(wire, List.of(5));
    assertThat(c.found).isFalse();
    assertThat(c.tap.ready()).isFalse();
    assertThat(c.passedOn.readableBytes()).isEqualTo(3);
    ByteBuf later = Unpooled.buffer();
    frame(later, Http2FrameTypes.PING, 1, 0, Unpooled.buffer().writeLong(PING));
    data(later, TAPPED, 0, new byte[] {4, 5}, -1);
    c.feed(later, List.of(7));
    assertThat(c.found).isTrue();
    assertThat(ByteBufUtil.getBytes(c.tapped)).containsExactly(4, 5);
  }

  @Test
  void data_of_a_stream_that_never_was_and_frames_that_are_too_long_are_the_handlers_to_refuse() throws Exception {
    for (int i = 0; i < 2; i++) {
      Connection one = new Connection();
      ByteBuf wire = one.opened();
      data(wire, i == 0 ? 9 : TAPPED, 0, new byte[i == 0 ? 10 : 16_385], -1);
      one.feed(wire, List.of(wire.readableBytes()));
      assertThat(one.tapped.readableBytes()).isZero();
      assertThat(one.goAway()).as("error of the GOAWAY").isEqualTo(i == 0 ? 1 : 6);
    }
  }

  /** @param padding none if negative */
  private static void data(ByteBuf wire, int stream, int flags, byte[] content, int padding) {
    ByteBuf payload = Unpooled.buffer();
    if (padding >= 0) {
      payload.writeByte(padding);
    }
    payload.writeBytes(content).writeZero(Math.max(0, padding));
    frame(wire, Http2FrameTypes.DATA, flags | (padding >= 0 ? 8 : 0), stream, payload);
  }

  private static void frame(ByteBuf wire, int type, int flags, int stream, ByteBuf payload) {
    wire.writeMedium(payload.readableBytes()).writeByte(type).writeByte(flags).writeInt(stream).writeBytes(payload);
  }
}
