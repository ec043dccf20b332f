package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.SharedPayload;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Streams on Unix domain sockets whose payloads go by memory that both ends see. */
@EnabledOnOs(OS.LINUX)
class SharedPayloadsTest extends TensorStreamContract {
  private static final int BYTES = 1 << 20;
  /** Many times what is shared. */
  private static final int FRAMES = 100;

  SharedPayloadsTest() {
    super(Transport.GRPC_SHARED);
  }

  private static TensorFrame frame(int number, int bytes) {
    ByteBuffer payload = ByteBuffer.allocateDirect(bytes).put(filled(number, bytes));
    return new TensorFrame(TensorMessage.newBuilder().setRequest(number).build(), payload.flip());
  }

  private static byte[] filled(int number, int bytes) {
    byte[] payload = new byte[bytes];
    Arrays.fill(payload, (byte) number);
    return payload;
  }

  private static SharedPayloads memory(TensorStream stream) {
    return ((HttpTensorStream) stream).memory();
  }

  /** Counts frames, their bytes, and those that were not what was sent. */
  private static final class Counting implements FrameReceiver {
    final Promise<Integer> all = Promise.promise();
    final int frames;
    int next;
    int bytes;
    int wrong;

    Counting(int frames) {
      this.frames = frames;
    }

    @Override
    public void begin(TensorMessage header, int payloadBytes) {
      wrong += header.getRequest() == next && payloadBytes == BYTES ? 0 : 1;
      bytes = 0;
    }

    @Override
    public void payload(ByteBuf piece) {
      bytes += piece.readableBytes();
      wrong += piece.equals(Unpooled.wrappedBuffer(filled(next, piece.readableBytes()))) ? 0 : 1;
      piece.skipBytes(piece.readableBytes());
    }

    @Override
    public void end() {
      wrong += bytes == BYTES ? 0 : 1;
      if (++next == frames) {
        all.complete(wrong);
      }
    }
  }

  /** Sends a few until the peer has taken the memory that it is offered with one of them, and then the others, as the stream takes them. */
  private static final class Producer {
    private final TensorStream stream;
    private int sent;
    private int byMemory;

    Producer(TensorStream stream) {
      this.stream = stream;
      Vertx.currentContext().owner().setPeriodic(5, this::begin);
    }

    private void begin(long timer) {
      if (memory(stream).isTaken()) {
        Vertx.currentContext().owner().cancelTimer(timer);
        stream.drainHandler(v -> run());
        run();
      } else if (sent < FRAMES / 4 && !stream.writeQueueFull()) {
        stream.send(frame(sent++, BYTES));
      }
    }

    private void run() {
      while (sent < FRAMES && !stream.writeQueueFull()) {
        byMemory += memory(stream).isTaken() ? 1 : 0;
        stream.send(frame(sent++, BYTES));
      }
    }
  }

  @Test
  void payloads_of_both_directions_go_by_memory_once_the_peer_has_it() throws Exception {
    Counting toServer = new Counting(FRAMES);
    Counting toClient = new Counting(FRAMES);
    Promise<Producer> ofServer = Promise.promise();
    int port = serve(s -> {
      s.endHandler(v -> s.end());
      s.receiver(toServer);
      ofServer.complete(new Producer(s));
    });
    Producer[] ofClient = new Producer[1];
    loop.open(port, PATH, options, s -> {
      s.receiver(toClient);
      ofClient[0] = new Producer(s);
    });
    assertThat(get(toServer.all.future())).isZero();
    assertThat(get(toClient.all.future())).isZero();
    Producer server = get(ofServer.future());
    assertThat(get(loop.on(() -> Future.succeededFuture(ofClient[0].byMemory)))).isGreaterThanOrEqualTo(FRAMES - FRAMES / 4);
    assertThat(get(loop.on(() -> Future.succeededFuture(server.byMemory)))).isGreaterThanOrEqualTo(FRAMES - FRAMES / 4);
  }

  @Test
  void a_message_about_memory_that_is_not_there_breaks_the_stream_and_says_so() throws Exception {
    Promise<Throwable> told = Promise.promise();
    int port = serve(s -> s.exceptionHandler(told::tryComplete).handler(f -> { }));
    loop.open(port, PATH, options, s -> {
      s.receiver(new Counting(1));
      s.send(TensorFrame.of(TensorMessage.newBuilder().setPush(Push.getDefaultInstance())
          .setShared(SharedPayload.newBuilder().setBytes(64)).build()));
    });
    assertThat(get(told.future())).isInstanceOf(InvalidInput.class).hasMessageContaining("no memory has been taken");
  }
}
