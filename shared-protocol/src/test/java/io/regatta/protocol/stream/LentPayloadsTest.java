package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.memory.SharedMemory;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.SharedPayload;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Streams between two ends that read each other's memory where it lies. The oracle: what is written there behind the send is read. */
@EnabledOnOs(OS.LINUX)
class LentPayloadsTest {
  private static final String PATH = "/regatta.Test/Lend";
  private static final int BYTES = 1 << 20;
  private static final int STOP = 1 << 20;

  private final StreamOptions options = StreamOptions.defaults().withTransport(Transport.GRPC_SHARED);
  private final Loop loop = new Loop();
  private final Promise<TensorStream> server = Promise.promise();
  private final Promise<Throwable> lost = Promise.promise();
  private final List<Byte> read = new ArrayList<>();
  private final Promise<Void> stopped = Promise.promise();
  private SharedMemory memory;
  private TensorStream client;

  /** Keeps the first byte of each payload once that has come whole; stops reading at {@link #STOP}. */
  private final class First implements FrameReceiver {
    private TensorMessage header;
    private int bytes;
    private byte first;

    @Override
    public void begin(TensorMessage of, int payloadBytes) {
      header = of;
      bytes = 0;
    }

    @Override
    public void payload(ByteBuf piece) {
      first = bytes == 0 && piece.isReadable() ? piece.getByte(piece.readerIndex()) : first;
      bytes += piece.readableBytes();
      piece.skipBytes(piece.readableBytes());
    }

    @Override
    public void end() {
      if (header.getRequest() == STOP) {
        server.future().result().pause();
        stopped.complete();
      } else {
        read.add(first);
      }
    }
  }

  @BeforeEach
  void lends() throws Exception {
    memory = SharedMemory.allocate(2 * BYTES);
    int port = loop.serve(PATH, options, s -> {
      server.complete(s);
      s.exceptionHandler(lost::tryComplete);
      s.receiver(new First());
    }).actualPort();
    client = loop.open(port, PATH, options, s -> s.receiver(new First()));
    Promise<Void> lending = Promise.promise();
    loop.context.runOnContext(v -> loop.vertx.setPeriodic(2, timer -> {
      send(0);
      if (shared().lent().isWaiting()) {
        loop.vertx.cancelTimer(timer);
        lending.complete();
      }
    }));
    get(lending.future());
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  private SharedPayloads shared() {
    return ((HttpTensorStream) client).memory();
  }

  private Future<Void> send(int at) {
    return client.send(new TensorFrame(TensorMessage.newBuilder().setPush(Push.getDefaultInstance()).build(),
        memory.bytes().slice(at, BYTES), memory, at));
  }

  /** Has the server stop reading, and lends it what then waits there. */
  private Future<Void> lendUnread(int at, byte value) throws Exception {
    get(loop.on(() -> client.send(TensorFrame.of(TensorMessage.newBuilder().setPush(Push.getDefaultInstance()).setRequest(STOP).build()))));
    get(stopped.future());
    Promise<Future<Void>> sent = Promise.promise();
    loop.context.runOnContext(v -> {
      memory.bytes().put(at, value);
      sent.complete(send(at));
    });
    return get(sent.future());
  }

  @Test
  void a_payload_is_read_where_it_lies_and_is_the_senders_again_when_it_has_been_read() throws Exception {
    Future<Void> sent = lendUnread(BYTES, (byte) 5);
    int before = get(loop.on(() -> Future.succeededFuture(read.size())));
    assertThat(sent.isComplete()).isFalse();
    memory.bytes().put(BYTES, (byte) 6); // what a sender must not do
    get(loop.on(() -> Future.succeededFuture(server.future().result().resume())));
    get(sent);
    List<Byte> now = get(loop.on(() -> Future.succeededFuture(List.copyOf(read))));
    assertThat(now.subList(before, now.size())).containsExactly((byte) 6);
    assertThat(get(loop.on(() -> Future.succeededFuture(shared().lent().isWaiting())))).isFalse();
  }

  @Test
  void a_sender_that_gives_up_has_its_memory_at_once_and_what_is_read_of_it_then_is_refused() throws Exception {
    Future<Void> sent = lendUnread(0, (byte) 5);
    List<Byte> before = get(loop.on(() -> Future.succeededFuture(List.copyOf(read))));
    get(loop.on(() -> {
      client.fail(new Cancelled("enough"));
      return Future.succeededFuture();
    }));
    assertThatThrownBy(() -> get(sent)).isInstanceOf(PeerLost.class);
    memory.bytes().put(0, (byte) 6);
    get(loop.on(() -> Future.succeededFuture(server.future().result().resume())));
    assertThat(get(lost.future())).isInstanceOf(PeerLost.class);
    assertThat(get(loop.on(() -> Future.succeededFuture(List.copyOf(read))))).isEqualTo(before);
  }

  @Test
  void a_sender_that_severs_the_stream_has_its_memory_at_once() throws Exception {
    Future<Void> sent = lendUnread(0, (byte) 5);
    get(loop.on(() -> {
      client.sever();
      return Future.succeededFuture();
    }));
    assertThatThrownBy(() -> get(sent)).isInstanceOf(PeerLost.class);
    get(loop.on(() -> Future.succeededFuture(server.future().result().resume())));
    assertThat(get(lost.future())).isInstanceOf(PeerLost.class);
  }

  @Test
  void bytes_that_do_not_lie_in_memory_that_was_offered_break_the_stream_and_it_says_so() throws Exception {
    get(loop.on(() -> client.send(TensorFrame.of(TensorMessage.newBuilder().setPush(Push.getDefaultInstance())
        .setShared(SharedPayload.newBuilder().setMemory(1).setAt(2 * BYTES - 4).setBytes(8)).build()))));
    assertThat(get(lost.future())).isInstanceOf(InvalidInput.class).hasMessageContaining("8 bytes at 2097148 of memory number 1");
  }

  @Test
  void all_that_was_sent_is_read_in_its_order_whether_it_was_lent_or_copied() throws Exception {
    int before = get(loop.on(() -> Future.succeededFuture(read.size())));
    List<Byte> sent = new ArrayList<>();
    Promise<Void> all = Promise.promise();
    loop.context.runOnContext(v -> next(sent, all));
    get(all.future());
    List<Byte> now = get(loop.on(() -> Future.succeededFuture(List.copyOf(read))));
    assertThat(now.subList(now.size() - sent.size(), now.size())).isEqualTo(sent);
    assertThat(now.size()).isGreaterThanOrEqualTo(before + sent.size());
  }

  /** One that is lent, one that is copied, one that goes over the socket; then the next three. */
  private void next(List<Byte> sent, Promise<Void> all) {
    if (sent.size() == 60) {
      all.complete();
      return;
    }
    byte value = (byte) (sent.size() + 1);
    memory.bytes().put(0, value);
    List<Future<Void>> three = new ArrayList<>();
    three.add(send(0));
    for (int bytes : new int[] {LentPayloads.MIN_BYTES / 2, 100}) {
      byte[] payload = new byte[bytes];
      payload[0] = ++value;
      three.add(client.send(new TensorFrame(TensorMessage.newBuilder().setPush(Push.getDefaultInstance()).build(),
          ByteBuffer.allocateDirect(bytes)
          .put(payload).flip())));
    }
    sent.add((byte) (value - 2));
    sent.add((byte) (value - 1));
    sent.add(value);
    Future.all(three).onComplete(done -> next(sent, all));
  }
}
