package io.regatta.fleet;

import static io.regatta.protocol.testing.HostileClient.call;
import static io.regatta.protocol.testing.HostileClient.frame;
import static io.regatta.protocol.testing.HostileClient.hello;
import static io.regatta.protocol.testing.HostileClient.join;
import static io.regatta.protocol.testing.HostileClient.repeat;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2FrameTypes;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.testing.HostileClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;

/**
 * Connections without the token that send as much as a port reads: frames, requests and rubbish. The server must close
 * each in time. Stateless; used by the test's thread.
 */
final class Floods {
  private static final int FRAMES = 100_000;
  /** More than what the buffers of both ends hold: a flood of so much is cut, or some server has read it. */
  private static final int CUT_BYTES = 16 << 20;
  private static final int GIANT_BYTES = 32 << 20;
  private static final String CHECK = "/grpc.health.v1.Health/Check";
  private static final String WATCH = "/grpc.health.v1.Health/Watch";
  private static final String GROUPS = "/regatta.Rendezvous/Groups";

  private Floods() {}

  /** Returns the bytes of each kind. */
  static Map<String, byte[]> kinds() throws IOException {
    byte[] rubbish = new byte[1 << 20];
    new Random(7).nextBytes(rubbish);
    byte[][] resets = new byte[2 * FRAMES / 100][];
    byte[][] health = new byte[FRAMES / 100][];
    byte[][] refused = new byte[FRAMES / 100][];
    for (int i = 0; i < FRAMES / 100; i++) {
      resets[2 * i] = call(1 + 2 * i, CHECK);
      resets[2 * i + 1] = frame(Http2FrameTypes.RST_STREAM, 0, 1 + 2 * i, new byte[] {0, 0, 0, 8});
      health[i] = join(call(1 + 2 * i, i % 2 == 0 ? WATCH : CHECK), frame(Http2FrameTypes.DATA, 0, 1 + 2 * i,
          new byte[25]));
      refused[i] = call(1 + 2 * i, GROUPS, Token.HEADER, "Bearer some-other-token-of-nobody");
    }
    Map<String, byte[]> floods = new LinkedHashMap<>();
    floods.put("PING flood", join(hello(), repeat(frame(Http2FrameTypes.PING, 0, 0, new byte[8]), FRAMES)));
    floods.put("SETTINGS flood", join(hello(), repeat(frame(Http2FrameTypes.SETTINGS, 0, 0,
        new byte[] {0, 3, 0, 0, 0, 1}), FRAMES)));
    floods.put("CONTINUATION flood", join(hello(), frame(Http2FrameTypes.HEADERS, 0, 1, new byte[] {(byte) 0x83}),
        repeat(frame(Http2FrameTypes.CONTINUATION, 0, 1, new byte[0]), FRAMES)));
    floods.put("empty DATA flood", join(hello(), call(1, CHECK), repeat(frame(Http2FrameTypes.DATA, 0, 1,
        new byte[0]), FRAMES)));
    floods.put("RST flood", join(hello(), join(resets)));
    floods.put("health flood of empty messages", join(hello(), join(health)));
    floods.put("calls with another token", join(hello(), join(refused)));
    floods.put("gzip bomb", join(hello(), call(1, GROUPS, "grpc-encoding", "gzip"), frame(Http2FrameTypes.DATA, 1, 1,
        bomb())));
    floods.put("gzip bomb over HTTP/1.1", join(("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: "
        + "gzip\r\nContent-Length: " + bomb().length
        + "\r\n\r\n").getBytes(US_ASCII), bomb()));
    floods.put("request line of 8 kB, often", repeat(("GET /" + "a\u0007".repeat(1900)
        + " HTTP/1.1\r\nHost: a\r\n\r\n").getBytes(US_ASCII), 50));
    floods.put("request line without end", repeat("GET /aaaaaaaa".getBytes(US_ASCII), FRAMES));
    floods.put("gzip bomb over HTTP/1.1, with the token", join(("POST /predict HTTP/1.1\r\nHost: a\r\nConnection: "
        + "close\r\n" + Token.HEADER + ": Bearer " + AttackedJob.TOKEN
        + "\r\nContent-Encoding: gzip\r\nContent-Length: " + bomb().length + "\r\n\r\n").getBytes(US_ASCII), bomb()));
    floods.put("message of 2 GiB, as to an event bus", join(new byte[] {0x7f, -1, -1, -1}, new byte[GIANT_BYTES]));
    floods.put("rubbish", rubbish);
    floods.put("rubbish after the preface", join(hello(), rubbish));
    return floods;
  }

  /** Returns small connections that cause a line of each kind that ports log; the last one sends too much. */
  static List<byte[]> stragglers() {
    byte[] rubbish = new byte[200];
    new Random(7).nextBytes(rubbish);
    return List.of(("GET /" + "a".repeat(8000) + " HTTP/1.1\r\nHost: a\r\n\r\n").getBytes(US_ASCII),
        join(hello(), rubbish), join(hello(), call(1, GROUPS, Token.HEADER, "Bearer some-other-token"),
            repeat(frame(Http2FrameTypes.PING, 0, 0, new byte[8]), 4000)));
  }

  private static byte[] bomb() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(new byte[8 << 20]);
    }
    return packed.toByteArray();
  }

  /**
   * Sends floods to each port, until the server has closed all connections in time.
   *
   * @param each connections of a kind to a port
   * @param atOnce connections at a time
   * @return how many they are
   */
  static int send(Collection<Integer> ports, Map<String, byte[]> floods, int each, int atOnce, Connector connector)
      throws Exception {
    ExecutorService senders = Executors.newFixedThreadPool(atOnce);
    try {
      Map<String, Future<Boolean>> sent = new LinkedHashMap<>();
      for (Map.Entry<String, byte[]> flood : floods.entrySet()) {
        for (int port : ports) {
          for (int i = 0; i < each; i++) {
            sent.put(flood.getKey() + ", port " + port + ", connection " + i, senders.submit(() -> {
              try (HostileClient client = connector.connect(port, flood.getValue())) {
                boolean whole = client.send(flood.getValue());
                client.awaitEndWithin(AttackedJob.CLOSED_WITHIN_MILLIS);
                return whole && flood.getValue().length > CUT_BYTES;
              }
            }));
          }
        }
      }
      List<String> read = new ArrayList<>();
      for (Map.Entry<String, Future<Boolean>> one : sent.entrySet()) {
        assertThat(one.getValue()).as("closed: %s", one.getKey()).succeedsWithin(1, TimeUnit.MINUTES);
        if (one.getValue().get()) {
          read.add(one.getKey());
        }
      }
      assertThat(read).as("floods that were read to their ends").isEmpty();
      return sent.size();
    } finally {
      senders.shutdownNow();
    }
  }
}
