package io.regatta.node.admin;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2FrameTypes;
import io.regatta.node.process.Blocking;
import io.regatta.node.settings.Settings;
import io.regatta.node.testing.Conditions;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.testing.HostileClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients that may ask for metrics, and do not read the answers. */
class AdminMetricsTest {
  private static final byte[] NO_WINDOW = HostileClient.join("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII),
      HostileClient.frame(Http2FrameTypes.SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 0}));

  private static final int PATIENT_MILLIS = 600_000;

  private ProcessDiagnostics diagnostics;
  private AdminServer server;

  private void start(int takenMillis) {
    diagnostics = new ProcessDiagnostics(Settings.defaults(AdminConfig.class), PeerSecurity.NONE, "", "", 10, "test");
    server = Blocking.get(AdminServer.start("127.0.0.1", 0, diagnostics, PATIENT_MILLIS, takenMillis));
  }

  @AfterEach
  void close() {
    Blocking.get(server.close());
    Blocking.get(diagnostics.close());
  }

  private static byte[] scrapes(int number) {
    byte[][] frames = new byte[number][];
    for (int i = 0; i < number; i++) {
      frames[i] = HostileClient.headers(1 + 2 * i, true, "GET", "/metrics");
    }
    return HostileClient.join(frames);
  }

  private String scrape() throws IOException {
    try (HostileClient client = HostileClient.connect(server.port())) {
      client.send("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".getBytes(US_ASCII));
      return new String(client.awaitEnd(), US_ASCII);
    }
  }

  @Test
  void answersBusy_whileClientsDoNotReadAsManyAnswersAsThereMayBe() throws Exception {
    start(PATIENT_MILLIS);
    try (HostileClient blocked = HostileClient.connect(server.port())) {
      blocked.send(NO_WINDOW, scrapes(AdminServer.MOST_SCRAPES));
      Conditions.awaitTrue(() -> scrape().startsWith("HTTP/1.1 503"), () -> "the port still answers");
      assertThat(scrape()).contains("ask again later");
    }
    Conditions.awaitTrue(() -> scrape().startsWith("HTTP/1.1 200"), () -> "the port still answers that it is busy");
  }

  @Test
  void refusesStreams_whenAConnectionHasManyOpen() throws Exception {
    start(PATIENT_MILLIS);
    try (HostileClient blocked = HostileClient.connect(server.port())) {
      blocked.send(NO_WINDOW, scrapes(40));
      blocked.awaitFramesOrEnd(Http2FrameTypes.RST_STREAM, 32);
    }
  }

  @Test
  void closesTheConnection_whenAnAnswerIsNotReadInTime() throws Exception {
    start(300);
    try (HostileClient blocked = HostileClient.connect(server.port())) {
      blocked.send(NO_WINDOW, scrapes(1));
      blocked.awaitEnd();
    }
  }

  @Test
  void answersAgain_whenHttp1ClientsHaveNotReadTheirAnswersInTime() throws Exception {
    start(2_000);
    diagnostics.metrics().counter("long", "text", "x".repeat(8 << 20)); // more than the sockets hold
    List<Socket> blocked = new ArrayList<>();
    try {
      for (int i = 0; i < AdminServer.MOST_SCRAPES; i++) {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress("127.0.0.1", server.port()));
        socket.getOutputStream().write("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(US_ASCII));
        blocked.add(socket);
      }
      Conditions.awaitTrue(() -> scrape().startsWith("HTTP/1.1 503"), () -> "the port still answers");
      Conditions.awaitTrue(() -> scrape().startsWith("HTTP/1.1 200"), () -> "the port still answers that it is busy");
    } finally {
      for (Socket socket : blocked) {
        socket.close();
      }
    }
  }
}
