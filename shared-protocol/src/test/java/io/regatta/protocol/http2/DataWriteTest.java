package io.regatta.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

/** A write whose stream ends in its middle. */
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
}
