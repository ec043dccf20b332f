package io.regatta.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** A write in as many frames as windows and frame sizes allow, and one whose stream ends in its middle. */
class DataWriteTest {
  private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
  private final ChannelHandlerContext ctx = channel.pipeline().firstContext();
  private final ChannelPromise done = ctx.newPromise();
  private final ByteBuf payload = Unpooled.directBuffer().writeZero(100_000);
  private final DataWrite write = new DataWrite(1, () -> 16_384, Unpooled.wrappedBuffer(new byte[9]), payload, done);

  @Test
  void its_memory_is_free_when_the_frames_before_have_left_the_sockets_queue() {
    write.write(ctx, 50_000);
    write.error(ctx, new IllegalStateException("reset"));
    assertThat(done.isDone()).as("frames of it wait").isFalse();
    channel.flushOutbound();
    assertThat(done.cause()).hasMessage("reset");
    channel.releaseOutbound();
    assertThat(payload.refCnt()).isZero();
  }

  @Test
  void it_fails_at_once_when_nothing_waits() {
    write.error(ctx, new IllegalStateException("reset"));
    assertThat(done.cause()).hasMessage("reset");
    assertThat(payload.refCnt()).isZero();
  }

  @Property(tries = 200)
  void its_frames_carry_all_bytes_in_order_within_what_is_allowed(@ForAll @IntRange(max = 3000) int headBytes,
      @ForAll @IntRange(min = 1, max = 40_000) int payloadBytes,
      @ForAll @Size(min = 1, max = 8) List<@IntRange(min = 300, max = 30_000) Integer> allowances,
      @ForAll @Size(min = 1, max = 4) List<@IntRange(min = 500, max = 20_000) Integer> maxFrames) {
    byte[] all = new byte[headBytes + payloadBytes];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) (i * 31 >> 2);
    }
    ByteBuf tensor = Unpooled.directBuffer().writeBytes(all, headBytes, payloadBytes);
    int[] round = {0};
    ChannelPromise sent = ctx.newPromise();
    ByteBuf came = Unpooled.buffer();
    DataWrite it = new DataWrite(5, () -> maxFrames.get(round[0] % maxFrames.size()),
        Unpooled.copiedBuffer(all, 0, headBytes), tensor, sent);
    for (; it.size() > 0; round[0]++) {
      assertThat(sent.isDone()).isFalse();
      int allowed = allowances.get(round[0] % allowances.size());
      int before = it.size();
      it.write(ctx, allowed);
      channel.flushOutbound();
      ByteBuf wire = Unpooled.buffer();
      for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
        wire.writeBytes(out);
        out.release();
      }
      int content = 0;
      while (wire.isReadable()) {
        int length = wire.readUnsignedMedium();
        assertThat(length).isBetween(1, maxFrames.get(round[0] % maxFrames.size()));
        assertThat(wire.readShort()).as("type DATA, no flags").isZero();
        assertThat(wire.readInt()).as("stream").isEqualTo(5);
        came.writeBytes(wire, length);
        content += length;
      }
      assertThat(content).isEqualTo(Math.min(allowed, before)).isEqualTo(before - it.size());
    }
    it.writeComplete();
    assertThat(ByteBufUtil.getBytes(came)).isEqualTo(all);
    assertThat(sent.isSuccess()).isTrue();
    assertThat(tensor.refCnt()).isZero();
  }
}
