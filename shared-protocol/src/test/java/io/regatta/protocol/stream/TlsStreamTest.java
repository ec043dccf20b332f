package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.PfxOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tensor streams over TLS: the way past Vert.x begins behind the decryption, and so works there as well. */
class TlsStreamTest {
  private static final String PATH = "/regatta.Test/Exchange";
  private static final int CHUNK = 64 << 10;
  private static final int CHUNKS = 24;

  @TempDir
  static Path directory;

  private final Loop loop = new Loop();
  private final List<TensorStream> streams = new ArrayList<>();
  private final Promise<RegattaException> lost = Promise.promise();

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"GRPC", "GRPC_PLAIN"})
  void a_tensor_comes_back_bit_by_bit(Transport transport) throws Exception {
    StreamOptions options = StreamOptions.defaults().withWindows(256 << 10, 512 << 10).withTransport(transport);
    HttpServer server = serve(options);
    TensorStreamClient client = new TensorStreamClient(loop.vertx, options,
        options.clientOptions().setSsl(true).setUseAlpn(true).setTrustAll(true).setVerifyHost(false));
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
    assertThat(loop.onLane(stream)).isEqualTo(transport == Transport.GRPC);
    assertThat(loop.onLane(streams.get(0))).isEqualTo(transport == Transport.GRPC);
    get(loop.on(client::close));
    assertThat(get(lost.future())).isInstanceOf(PeerLost.class);
  }

  private HttpServer serve(StreamOptions options) throws Exception {
    PfxOptions key = new PfxOptions().setPath(store().toString()).setPassword("password");
    return get(loop.on(() -> loop.vertx
        .createHttpServer(options.serverOptions().setSsl(true).setUseAlpn(true).setKeyCertOptions(key))
        .connectionHandler(options::lane)
        .requestHandler(TensorStreamServer.handler(loop.vertx, Map.of(PATH, s -> {
          streams.add(s);
          s.exceptionHandler(lost::complete).handler(s::send);
        }), r -> r.response().setStatusCode(404).end(), options))
        .listen(0, "127.0.0.1")));
  }

  /** A self-signed one, made by the JDK's own tool. */
  @BeforeAll
  static void certificate() throws Exception {
    Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
        "-genkeypair", "-alias", "test", "-keyalg", "EC", "-dname", "CN=localhost", "-validity", "2",
        "-storetype", "PKCS12", "-keystore", store().toString(), "-storepass", "password")
        .redirectErrorStream(true).redirectOutput(directory.resolve("log").toFile()).start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(store()).exists();
  }

  private static Path store() {
    return directory.resolve("key.p12");
  }
}
