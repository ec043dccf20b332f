package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A consumer that stalls holds its producer back, in both directions; when it continues, everything comes, in order.
 */
abstract class BackPressureContract {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final int CHUNK = 64 << 10;
  private static final int FRAMES = 1024;
  /** Enough to fill every window here, where each byte costs more: the tests' compiler knows no instructions for AES. */
  static final int FEW_FRAMES = 256;
  static final int WINDOW = 1 << 20;
  private static final int STREAMS = 6;
  /** The window, what the sender's own queue takes, and what one read delivers; measured: 2 MiB. */
  private static final int BOUND = 4 << 20;

  private final StreamOptions options;
  private final int queueBytes;
  private final int frames;
  private final Loop loop = new Loop();

  /** @param queueBytes what a stream's sender takes beside what is on its way */
  BackPressureContract(Transport transport, int queueBytes) {
    this(transport, PeerSecurity.NONE, queueBytes, FRAMES);
  }

  BackPressureContract(Transport transport, PeerSecurity security, int queueBytes, int frames) {
    this.frames = frames;
    this.queueBytes = queueBytes;
    options = StreamOptions.defaults().with(s -> s.initialWindowBytes(WINDOW).connectionWindowBytes(2 * WINDOW))
        .withTransport(transport).withSecurity(security);
  }

  /** Sends numbered frames as long as the stream takes them. */
  private static final class Producer {
    final TensorStream stream;
    final Promise<Integer> full = Promise.promise();
    final Promise<Integer> done = Promise.promise();
    final int frames;
    int sent;
    int completed;
    private int lent;
    /** All that was sent has been done with, some of it by a failure. */
    final Promise<Void> all = Promise.promise();

    Producer(TensorStream stream, int frames) {
      this.stream = stream;
      this.frames = frames;
      stream.drainHandler(v -> run());
    }

    void run() {
      while (sent < frames && !stream.writeQueueFull()) {
        TensorMessage header = TensorMessage.newBuilder().setRequest(sent++).build();
        lent++;
        stream.send(new TensorFrame(header, ByteBuffer.allocate(CHUNK))).onSuccess(v -> completed++)
            .onFailure(done::tryFail).onComplete(v -> {
              if (--lent == 0 && done.future().failed()) {
                all.tryComplete();
              }
            });
      }
      if (sent < frames) {
        full.tryComplete(sent);
      } else {
        done.tryComplete(sent);
      }
    }
  }

  /** Takes nothing until it is let; then counts, and insists on the order. */
  private static final class Consumer implements Handler<TensorFrame> {
    final TensorStream stream;
    final Promise<Integer> all = Promise.promise();
    final int frames;
    int seen;

    Consumer(TensorStream stream, int frames) {
      this.stream = stream;
      this.frames = frames;
      stream.pause();
      stream.exceptionHandler(all::tryFail).endHandler(v -> all.tryFail("ended")).handler(this);
    }

    @Override
    public void handle(TensorFrame frame) {
      if (frame.header().getRequest() != seen) {
        all.tryFail("frame " + frame.header().getRequest() + " came after " + seen);
      }
      if (++seen == frames) {
        all.complete(seen);
      }
    }
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  @Test
  void a_stalled_server_holds_a_client_back() throws Exception {
    Promise<Consumer> consumer = Promise.promise();
    int port = loop.serve(PATH, options, s -> consumer.complete(new Consumer(s, frames))).actualPort();
    Promise<Producer> producer = Promise.promise();
    loop.open(port, PATH, options, s -> {
      s.handler(f -> { });
      producer.complete(new Producer(s, frames));
    });
    assertHeldBack(get(producer.future()), get(consumer.future()));
  }

  @Test
  void a_stalled_client_holds_a_server_back() throws Exception {
    Promise<Producer> producer = Promise.promise();
    int port = loop.serve(PATH, options, s -> {
      s.handler(f -> { });
      producer.complete(new Producer(s, frames));
    }).actualPort();
    Promise<Consumer> consumer = Promise.promise();
    loop.open(port, PATH, options, s -> consumer.complete(new Consumer(s, frames)));
    assertHeldBack(get(producer.future()), get(consumer.future()));
  }

  /** Memory borrowed by a consumer that never continues is the producer's again, at either end. */
  @Test
  void a_stream_that_is_severed_has_done_with_all_that_was_lent_to_it() throws Exception {
    Promise<Producer> server = Promise.promise();
    Promise<Consumer> stalled = Promise.promise();
    int port = loop.serve(PATH, options, s -> {
      if (stalled.future().isComplete()) {
        s.handler(f -> { });
        server.complete(new Producer(s, frames));
      } else {
        stalled.complete(new Consumer(s, frames));
      }
    }).actualPort();
    Promise<Producer> client = Promise.promise();
    loop.open(port, PATH, options, s -> {
      s.handler(f -> { });
      client.complete(new Producer(s, frames));
    });
    get(stalled.future());
    loop.open(port, PATH, options, s -> new Consumer(s, frames));
    for (Promise<Producer> each : List.of(client, server)) {
      Producer producer = get(each.future());
      get(loop.on(() -> {
        producer.run();
        return Future.succeededFuture();
      }));
      get(producer.full.future());
      get(loop.on(() -> {
        producer.stream.sever();
        return Future.succeededFuture();
      }));
      get(producer.all.future());
    }
  }

  /** A window of input is too much for one turn of the loop, if each byte of it is work. */
  @Test
  void what_has_waited_is_read_in_turns() throws Exception {
    StreamOptions wide = options.with(s -> s.initialWindowBytes(8 << 20).connectionWindowBytes(16 << 20));
    Promise<Consumer> consumer = Promise.promise();
    int port = loop.serve(PATH, wide, s -> consumer.complete(new Consumer(s, frames))).actualPort();
    Promise<Producer> producer = Promise.promise();
    loop.open(port, PATH, wide, s -> {
      s.handler(f -> { });
      producer.complete(new Producer(s, frames));
    });
    Producer from = get(producer.future());
    Consumer to = get(consumer.future());
    loop.context.runOnContext(v -> from.run());
    get(from.full.future());
    settle(from);
    Promise<Integer> atOnce = Promise.promise();
    loop.context.runOnContext(v -> {
      to.stream.resume();
      atOnce.complete(to.seen);
    });
    assertThat(get(atOnce.future()) * CHUNK).isLessThanOrEqualTo(AbstractTensorStream.TURN_BYTES + CHUNK);
    assertThat(get(to.all.future())).isEqualTo(frames);
  }

  /** Each could have a window on its way; all together have no more than their connection's, which is that of two. */
  @Test
  void stalled_streams_together_hold_no_more_than_the_connections_window() throws Exception {
    int each = 4 * WINDOW / CHUNK;
    List<Consumer> consumers = new ArrayList<>();
    List<Producer> producers = new ArrayList<>();
    int port = loop.serve(PATH, options, s -> consumers.add(new Consumer(s, each))).actualPort();
    TensorStreamClient client = new TensorStreamClient(loop.vertx, options);
    for (int i = 0; i < STREAMS; i++) {
      get(loop.on(() -> client.open("127.0.0.1", port, PATH).onSuccess(s -> {
        s.handler(f -> { });
        producers.add(new Producer(s, each));
      })));
    }
    loop.context.runOnContext(v -> producers.forEach(Producer::run));
    for (Producer p : producers) {
      settle(p);
      assertThat(p.stream.writeQueueFull()).isTrue();
    }
    assertThat(producers.stream().mapToLong(p -> (long) p.sent * CHUNK).sum())
        .isLessThanOrEqualTo(2 * WINDOW + STREAMS * (queueBytes + 2L * CHUNK));
    loop.context.runOnContext(v -> consumers.forEach(c -> c.stream.resume()));
    for (int i = 0; i < STREAMS; i++) {
      assertThat(get(consumers.get(i).all.future())).isEqualTo(each);
      assertThat(get(producers.get(i).done.future())).isEqualTo(each);
    }
    get(client.close());
  }

  private void assertHeldBack(Producer producer, Consumer consumer) throws Exception {
    loop.context.runOnContext(v -> producer.run());
    get(producer.full.future());
    settle(producer);
    assertThat(producer.stream.writeQueueFull()).isTrue();
    assertThat((long) producer.sent * CHUNK).as("bytes accepted while the consumer stalls").isLessThan(BOUND);
    assertThat(consumer.seen).isZero();
    loop.context.runOnContext(v -> consumer.stream.resume());
    assertThat(get(consumer.all.future())).isEqualTo(frames);
    assertThat(get(producer.done.future())).isEqualTo(frames);
  }

  /** Waits until a round trip over the same event loop and a while of the network have moved nothing. */
  private void settle(Producer producer) throws Exception {
    Promise<Void> quiet = Promise.promise();
    int[] last = {-1};
    loop.context.runOnContext(x -> loop.vertx.setPeriodic(50, t -> {
      if (producer.sent + producer.completed == last[0]) {
        loop.vertx.cancelTimer(t);
        quiet.complete();
      }
      last[0] = producer.sent + producer.completed;
    }));
    get(quiet.future());
  }
}
