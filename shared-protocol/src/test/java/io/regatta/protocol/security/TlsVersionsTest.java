package io.regatta.protocol.security;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.HostileClient;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The versions of TLS that a port takes, as docs/security.md has them: 1.3 and 1.2. */
class TlsVersionsTest {
  private static final int TLS_1_1 = 0x0302;
  private static final byte ALERT = 21;
  private static final byte FATAL = 2;
  private static final byte PROTOCOL_VERSION = 70;

  @TempDir
  Path directory;
  private final Loop loop = new Loop();
  private PeerSecurity security;
  private int port;

  @BeforeEach
  void serve() throws Exception {
    Pem pem = new Certificates(directory).issue("ca", "node");
    security = PeerSecurity.of(new TlsFiles(pem.certificate(), pem.key(), pem.ca(), false, true), Token.NONE);
    port = get(security.server(loop.vertx, new HttpServerOptions()).requestHandler(r -> r.response().end())
        .listen(0, "127.0.0.1")).actualPort();
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void a_client_that_speaks_this_version_alone_is_served(String version) throws Exception {
    HttpClientAgent client = loop.vertx.createHttpClient(security.client(new HttpClientOptions())
        .setEnabledSecureTransportProtocols(Set.of(version)));
    HttpClientRequest request = get(client.request(HttpMethod.GET, port, "127.0.0.1", "/"));
    assertThat(request.connection().sslSession().getProtocol()).isEqualTo(version);
    assertThat(get(request.send()).statusCode()).isEqualTo(200);
    get(client.close());
  }

  @Test
  void a_client_that_speaks_an_older_version_is_refused_by_name() throws Exception {
    try (HostileClient old = HostileClient.connect(port)) {
      old.send(clientHello(TLS_1_1));
      assertThat(old.awaitEnd()).startsWith(ALERT).endsWith(FATAL, PROTOCOL_VERSION).hasSize(7);
    }
  }

  /** A client's first message, with a cipher suite that each version before 1.3 has. */
  private static byte[] clientHello(int version) {
    ByteBuffer hello = ByteBuffer.allocate(50);
    hello.put((byte) 22).putShort((short) 0x0301).putShort((short) 45); // handshake record
    hello.put((byte) 1).put((byte) 0).putShort((short) 41).putShort((short) version).put(new byte[32]).put((byte) 0);
    hello.putShort((short) 2).putShort((short) 0xc013).put((byte) 1).put((byte) 0);
    return hello.array();
  }
}
