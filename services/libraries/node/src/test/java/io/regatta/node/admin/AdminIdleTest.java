package io.regatta.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.process.Blocking;
import io.regatta.node.settings.Settings;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.testing.HostileClient;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A connection to the admin port on which nothing happens is closed, although the process has no token to wait for. */
class AdminIdleTest {
  /** More than a cold JVM on a busy machine needs to answer its first HTTP/2 request. */
  private static final int IDLE_MILLIS = 3000;

  private ProcessDiagnostics diagnostics;
  private AdminServer server;

  @BeforeEach
  void start() {
    diagnostics = new ProcessDiagnostics(Settings.defaults(AdminConfig.class), PeerSecurity.NONE, "", "", 10, "test");
    server = Blocking.get(AdminServer.start("127.0.0.1", 0, diagnostics, IDLE_MILLIS, IDLE_MILLIS));
  }

  @AfterEach
  void close() {
    Blocking.get(server.close());
    Blocking.get(diagnostics.close());
  }

  @Test
  void closesAConnection_whenItSaysNothing() throws Exception {
    try (HostileClient silent = HostileClient.connect(server.port())) {
      assertThat(silent.awaitEnd()).isEmpty();
    }
  }

  @Test
  void closesAConnection_whenItSaysNothingAfterItsAnswer() throws Exception {
    try (HostileClient http1 = HostileClient.connect(server.port());
        HostileClient http2 = HostileClient.connect(server.port())) {
      http1.send("GET /ready HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      http2.send(HostileClient.hello(), HostileClient.headers(1, true, "GET", "/ready"));
      assertThat(new String(http1.awaitEnd(), StandardCharsets.US_ASCII)).startsWith("HTTP/1.1 ").contains("\"role\"");
      assertThat(new String(http2.awaitEnd(), StandardCharsets.US_ASCII)).contains("\"role\"");
    }
  }
}
