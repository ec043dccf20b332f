package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.testing.Certificates;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tensor streams over TLS: the way past Vert.x begins behind the decryption, and so works there as well. */
class TlsStreamTest {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final int CHUNK = 64 << 10;
  private static final int CHUNKS = 24;

  private final Loop loop = new Loop();
  private final List<TensorStream> streams = new ArrayList<>();
  private final Promise<RegattaException> lost = Promise.promise();

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  /** On the socket of one user there is no TLS, and the token is wanted. */
  @ParameterizedTest
  @EnumSource(names = {"GRPC", "GRPC_PLAIN", "GRPC_UNIX"})
  void a_tensor_comes_back_bit_by_bit(Transport transport) throws Exception {
    StreamOptions options = StreamOptions.defaults()
        .with(s -> s.initialWindowBytes(256 << 10).connectionWindowBytes(512 << 10)).withTransport(transport)
        .withSecurity(Certificates.ofThisJvm());
    HttpServer server = loop.serve(PATH, options, s -> {
      streams.add(s);
      s.exceptionHandler(lost::complete).handler(s::send);
    });
    TensorStreamClient client = new TensorStreamClient(loop.vertx, options);
    byte[] tensor = new byte[CHUNK * CHUNKS]; // several windows
    new Random(1).nextBytes(tensor);
    byte[] echo = new byte[tensor.length];
    Promise<Integer> echoed = Promise.promise();
    TensorStream stream = get(loop.on(() -> client.open("127.0.0.1", server.actualPort(), PATH).onSuccess(s -> {
      int[] came = {0};
      s.exceptionHandler(echoed::tryFail).handler(f -> {
        ByteBuffer payload = f.read();
        payload.get(echo, came[0] * CHUNK, CHUNK);
        if (++came[0] == CHUNKS) {
          echoed.complete(came[0]);
        }
      });
      for (int i = 0; i < CHUNKS; i++) {
        s.send(new TensorFrame(TensorMessage.getDefaultInstance(), ByteBuffer.wrap(tensor, i * CHUNK, CHUNK)));
      }
    })));
    get(echoed.future());
    assertThat(echo).isEqualTo(tensor);
    assertThat(loop.onLane(stream)).isEqualTo(transport != Transport.GRPC_PLAIN);
    assertThat(loop.onLane(streams.get(0))).isEqualTo(transport != Transport.GRPC_PLAIN);
    assertThat(loop.sockets()).isEqualTo(transport == Transport.GRPC_UNIX ? 1 : 0);
    get(loop.on(client::close));
    assertThat(get(lost.future())).isInstanceOf(PeerLost.class);
  }
}
