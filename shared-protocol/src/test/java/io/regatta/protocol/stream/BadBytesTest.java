package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.stream.frame.TensorFrameEncoder;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.grpc.common.GrpcStatus;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Bytes that no client of ours would send, by a plain HTTP/2 client, and answers that no server of ours would give. The
 * status is right and its text readable, nothing is delivered, and the connection's other streams continue.
 */
class BadBytesTest {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final StreamOptions OPTIONS = StreamOptions.defaults()
        .with(s -> s.chunkBytes(4096).maxMessageBytes(8192).maxRequestBytes(1 << 20).maxRequests(4));

  private final Loop loop = new Loop();
  private final List<TensorFrame> delivered = new ArrayList<>();
  private final Promise<RegattaException> told = Promise.promise();
  private HttpClient raw;
  private int port;

  private record Answer(GrpcStatus status, String message) {}

  @BeforeEach
  void serve() throws Exception {
    port = loop.serve(PATH, OPTIONS, s -> {
      s.exceptionHandler(told::tryComplete).endHandler(v -> s.end());
      s.handler(delivered::add);
    }).actualPort();
    raw = loop.vertx.createHttpClient(OPTIONS.clientOptions());
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  @Test
  void a_message_cut_short_by_the_end_is_not_taken_as_whole() throws Exception {
    Buffer whole = message();
    for (int length = 1; length < whole.length(); length += 13) {
      Answer a = post(whole.getBuffer(0, length));
      assertThat(a.status).isEqualTo(GrpcStatus.INVALID_ARGUMENT);
      assertThat(a.message).contains("ended in the middle of a message");
    }
    assertRefused("ended in the middle of a message");
  }

  @Test
  void an_oversized_message_is_refused_by_its_length_alone() throws Exception {
    Answer a = post(Buffer.buffer().appendByte((byte) 0).appendInt(8193));
    assertThat(a.status).isEqualTo(GrpcStatus.INVALID_ARGUMENT);
    assertThat(a.message).contains("8193 bytes").contains("stream.max_message_bytes = 8192");
    assertRefused("8193 bytes");
  }

  @Test
  void a_compressed_message_is_unimplemented() throws Exception {
    Answer a = post(message().setByte(0, (byte) 1));
    assertThat(a.status).isEqualTo(GrpcStatus.UNIMPLEMENTED);
    assertThat(a.message).contains("not compressed");
    assertRefused("not compressed");
  }

  @Test
  void garbage_is_refused() throws Exception {
    Answer a = post(Buffer.buffer().appendByte((byte) 0).appendInt(5).appendString("hello"));
    assertThat(a.status).isEqualTo(GrpcStatus.INVALID_ARGUMENT);
    assertThat(a.message).contains("no regatta.TensorMessage");
    assertRefused("no regatta.TensorMessage");
  }

  @Test
  void what_was_whole_before_the_garbage_was_delivered() throws Exception {
    Answer a = post(message().appendBuffer(message()).appendBytes(new byte[] {0, 0, 0, 0, 1, -1}));
    assertThat(a.status).isEqualTo(GrpcStatus.INVALID_ARGUMENT);
    assertThat(delivered).hasSize(2);
  }

  @Test
  void an_empty_message_is_a_message() throws Exception {
    Answer a = post(Buffer.buffer(new byte[5]));
    assertThat(a.status).isEqualTo(GrpcStatus.OK);
    assertThat(delivered).hasSize(1);
  }

  @Test
  void a_client_is_told_of_a_servers_garbage_and_of_a_missing_status() throws Exception {
    assertThat(answeredWith(r -> r.end(Buffer.buffer().appendByte((byte) 0).appendInt(1).appendByte((byte) 7))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("no regatta.TensorMessage");
    assertThat(answeredWith(r -> r.end())).isInstanceOf(PeerLost.class)
        .hasMessageContaining("without a gRPC status");
    assertThat(answeredWith(r -> {
      r.putTrailer("grpc-status", "8").putTrailer("grpc-message", "slow%20down");
      return r.end(message().getBuffer(0, 20));
    })).as("a status explains more than the message it cut").isInstanceOf(Overloaded.class)
        .hasMessage("slow down");
    assertThat(answeredWith(r -> {
      r.putTrailer("grpc-status", "seven");
      return r.end();
    })).isInstanceOf(Indeterminate.class).hasMessageContaining("status seven");
  }

  private RegattaException answeredWith(Function<HttpServerResponse, Future<Void>> answer)
      throws Exception {
    int bad = get(loop.vertx.createHttpServer(OPTIONS.serverOptions()).requestHandler(r -> {
      answer.apply(r.response().putHeader("content-type", "application/grpc"));
    }).listen(0, "127.0.0.1")).actualPort();
    Promise<RegattaException> failed = Promise.promise();
    loop.open(bad, PATH, OPTIONS, s -> {
      s.exceptionHandler(failed::complete).endHandler(v -> failed.fail("a clean end"));
      s.handler(f -> failed.fail("delivered"));
    });
    return get(failed.future());
  }

  private void assertRefused(String reason) throws Exception {
    assertThat(get(told.future())).isInstanceOf(InvalidInput.class).hasMessageContaining(reason)
        .hasMessageContaining("127.0.0.1");
    assertThat(delivered).isEmpty();
    assertThat(post(message()).status).as("the next stream on the same connection").isEqualTo(GrpcStatus.OK);
    assertThat(delivered).hasSize(1);
  }

  private Answer post(Buffer body) throws Exception {
    return get(loop.on(() -> raw.request(HttpMethod.POST, port, "127.0.0.1", PATH)
        .compose(r -> r.putHeader("content-type", "application/grpc").send(body))
        .compose((HttpClientResponse r) -> r.end().map(v -> new Answer(
            GrpcStatus.valueOf(Integer.parseInt(r.getTrailer("grpc-status"))),
            r.getTrailer("grpc-message") == null ? "" : ErrorMapping.decode(r.getTrailer("grpc-message")))))));
  }

  private static Buffer message() {
    return TensorFrameEncoder.encode(new TensorFrame(
        TensorMessage.newBuilder().setPush(Push.getDefaultInstance()).setJob("job").build(), ByteBuffer.allocate(100))).copy();
  }
}
