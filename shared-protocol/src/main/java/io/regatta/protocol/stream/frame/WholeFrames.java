package io.regatta.protocol.stream.frame;

import io.netty.buffer.ByteBuf;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Handler;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A receiver that assembles frames for users of whole ones, each payload in an array of its own. Memory follows the
 * bytes that have arrived, not the announced size. Owned by the stream's loop.
 */
public final class WholeFrames implements FrameReceiver {
  /** Factor by which room is made beyond the received bytes, up to the announced length: for a chunk usually once. */
  private static final int GROWTH = 16;
  private static final int MIN_ROOM = 4096;

  private final Handler<TensorFrame> frames;
  private TensorMessage header;
  private int length;
  private byte[] payload;
  private int fill;

  public WholeFrames(Handler<TensorFrame> frames) {
    this.frames = frames;
  }

  @Override
  public void begin(TensorMessage header, int payloadBytes) {
    this.header = header;
    length = payloadBytes;
    payload = new byte[0];
    fill = 0;
  }

  @Override
  public void payload(ByteBuf bytes) {
    int n = bytes.readableBytes();
    if (fill + n > payload.length) {
      payload = Arrays.copyOf(payload, (int) Math.min(length, Math.max(MIN_ROOM, (long) GROWTH * (fill + n))));
    }
    bytes.readBytes(payload, fill, n);
    fill += n;
  }

  @Override
  public void end() {
    TensorFrame frame = new TensorFrame(header, ByteBuffer.wrap(payload, 0, fill).asReadOnlyBuffer()
        .order(ByteOrder.LITTLE_ENDIAN));
    header = null;
    payload = null;
    frames.handle(frame);
  }
}
