package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A consumer that stalls holds its producer back, in both directions; when it goes on, everything comes, in order. */
abstract class BackPressureContract {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final int CHUNK = 64 << 10;
  private static final int FRAMES = 1024;
  private static final int WINDOW = 1 << 20;
  /** The window, what the sender's own queue takes, and what one read delivers; measured: 2 MiB. */
  private static final int BOUND = 4 << 20;

  private final StreamOptions options;
  private final Loop loop = new Loop();

  BackPressureContract(Transport transport) {
    options = StreamOptions.defaults().withWindows(WINDOW, 2 * WINDOW).withTransport(transport);
  }

  /** Sends numbered frames as long as the stream takes them. */
  private static final class Producer {
    final TensorStream stream;
    final Promise<Integer> full = Promise.promise();
    final Promise<Integer> done = Promise.promise();
    int sent;
    int completed;

    Producer(TensorStream stream) {
      this.stream = stream;
      stream.drainHandler(v -> run());
    }

    void run() {
      while (sent < FRAMES && !stream.writeQueueFull()) {
        TensorMessage header = TensorMessage.newBuilder().setRequest(sent++).build();
        stream.send(new TensorFrame(header, ByteBuffer.allocate(CHUNK))).onSuccess(v -> completed++)
            .onFailure(done::tryFail);
      }
      if (sent < FRAMES) {
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
    int seen;

    Consumer(TensorStream stream) {
      this.stream = stream;
      stream.pause();
      stream.exceptionHandler(all::tryFail).endHandler(v -> all.tryFail("ended")).handler(this);
    }

    @Override
    public void handle(TensorFrame frame) {
      if (frame.header().getRequest() != seen) {
        all.tryFail("frame " + frame.header().getRequest() + " came after " + seen);
      }
      if (++seen == FRAMES) {
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
    int port = loop.serve(PATH, options, s -> consumer.complete(new Consumer(s))).actualPort();
    Promise<Producer> producer = Promise.promise();
    loop.open(port, PATH, options, s -> {
      s.handler(f -> { });
      producer.complete(new Producer(s));
    });
    assertHeldBack(get(producer.future()), get(consumer.future()));
  }

  @Test
  void a_stalled_client_holds_a_server_back() throws Exception {
    Promise<Producer> producer = Promise.promise();
    int port = loop.serve(PATH, options, s -> {
      s.handler(f -> { });
      producer.complete(new Producer(s));
    }).actualPort();
    Promise<Consumer> consumer = Promise.promise();
    loop.open(port, PATH, options, s -> consumer.complete(new Consumer(s)));
    assertHeldBack(get(producer.future()), get(consumer.future()));
  }

  /** A window of input is too much for one turn of the loop, if each byte of it is work. */
  @Test
  void what_has_waited_is_read_in_turns() throws Exception {
    StreamOptions wide = options.withWindows(8 << 20, 16 << 20);
    Promise<Consumer> consumer = Promise.promise();
    int port = loop.serve(PATH, wide, s -> consumer.complete(new Consumer(s))).actualPort();
    Promise<Producer> producer = Promise.promise();
    loop.open(port, PATH, wide, s -> {
      s.handler(f -> { });
      producer.complete(new Producer(s));
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
    assertThat(get(atOnce.future()) * CHUNK).isLessThanOrEqualTo(StreamEnd.TURN_BYTES + CHUNK);
    assertThat(get(to.all.future())).isEqualTo(FRAMES);
  }

  private void assertHeldBack(Producer producer, Consumer consumer) throws Exception {
    loop.context.runOnContext(v -> producer.run());
    get(producer.full.future());
    settle(producer);
    assertThat(producer.stream.writeQueueFull()).isTrue();
    assertThat((long) producer.sent * CHUNK).as("bytes accepted while the consumer stalls").isLessThan(BOUND);
    assertThat(consumer.seen).isZero();
    loop.context.runOnContext(v -> consumer.stream.resume());
    assertThat(get(consumer.all.future())).isEqualTo(FRAMES);
    assertThat(get(producer.done.future())).isEqualTo(FRAMES);
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
