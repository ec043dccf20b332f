package io.regatta.load.attack;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Bytes in the clear, in the protocols that a port may speak: those of Hazelcast, HTTP, memcache. Any thread. */
final class RawAttack {
  private static final int CONNECT_MILLIS = 3000;
  private static final int READ_MILLIS = 1500;
  private static final int MOST_BYTES = 1 << 16;
  private static final int FRAME_HEAD = 9;
  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int HIGHEST_FRAME_TYPE = 9;
  private static final int ALERT = 21;
  private static final Map<String, byte[]> WORDS = words();

  private RawAttack() {}

  private static Map<String, byte[]> words() {
    byte[] random = new byte[200];
    new Random(1).nextBytes(random);
    Map<String, byte[]> words = new LinkedHashMap<>();
    words.put("connect, and listen", new byte[0]);
    words.put("HTTP/1.1 GET /metrics in the clear", ascii("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"));
    words.put("HTTP/2 in the clear", ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"));
    words.put("Hazelcast member protocol", ascii("HZC"));
    words.put("Hazelcast client protocol", ascii("CP2"));
    words.put("Hazelcast REST", ascii("GET /hazelcast/rest/cluster HTTP/1.1\r\nHost: a\r\n\r\n"));
    words.put("Hazelcast health", ascii("GET /hazelcast/health HTTP/1.1\r\nHost: a\r\n\r\n"));
    words.put("memcache", ascii("version\r\nstats\r\n"));
    words.put("members' proof with a made-up token", ascii("RGP" + "madeupmadeup" + "n".repeat(32)));
    words.put("random bytes", random);
    return words;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Tries all of them at a port. Blocks. */
  static List<Finding> run(Port port) {
    List<Finding> findings = new ArrayList<>();
    WORDS.forEach((attempt, bytes) -> {
      try {
        findings.add(judge(attempt, port, exchange(port, bytes)));
      } catch (IOException e) {
        findings.add(Finding.presence(attempt, port, Texts.error(e), ""));
      }
    });
    return findings;
  }

  /** Returns what arrives until the other side closes or is silent. */
  private static byte[] exchange(Port port, byte[] bytes) throws IOException {
    ByteArrayOutputStream received = new ByteArrayOutputStream();
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(port.host(), port.number()), CONNECT_MILLIS);
      socket.setSoTimeout(READ_MILLIS);
      try {
        socket.getOutputStream().write(bytes);
        InputStream in = socket.getInputStream();
        byte[] buffer = new byte[8192];
        for (int n = in.read(buffer); n >= 0 && received.size() < MOST_BYTES; n = in.read(buffer)) {
          received.write(buffer, 0, n);
        }
      } catch (SocketTimeoutException silent) {
        return received.toByteArray();
      } catch (IOException reset) { // after bytes that it cannot use
        return received.toByteArray();
      }
    }
    return received.toByteArray();
  }

  private static Finding judge(String attempt, Port port, byte[] answer) {
    String text = new String(answer, StandardCharsets.ISO_8859_1);
    if (answer.length == 0) {
      return Finding.presence(attempt, port, "no byte", "open port");
    }
    if (answer[0] == ALERT && answer.length < 20) {
      return Finding.presence(attempt, port, "a TLS alert", "TLS");
    }
    if (text.startsWith("RGX")) {
      return Finding.presence(attempt, port, "RGX: refused", "Hazelcast, which asks for the proof");
    }
    if (text.startsWith("HTTP/1.1 4")) {
      return Finding.presence(attempt, port, text.substring(9, text.indexOf('\r')), "HTTP");
    }
    if (isControlFramesOnly(answer)) {
      return Finding.presence(attempt, port, "HTTP/2 frames without data", "HTTP/2");
    }
    return new Finding(attempt, port.toString(), "an answer", "", Texts.excerpt(answer), "");
  }

  /** True for HTTP/2 frames that neither answer a call nor carry data. */
  private static boolean isControlFramesOnly(byte[] answer) {
    int at = 0;
    while (at + FRAME_HEAD <= answer.length) {
      int length = (answer[at] & 0xff) << 16 | (answer[at + 1] & 0xff) << 8 | answer[at + 2] & 0xff;
      int type = answer[at + 3];
      if (type == DATA || type == HEADERS || type < 0 || type > HIGHEST_FRAME_TYPE) {
        return false;
      }
      at += FRAME_HEAD + length;
    }
    return at == answer.length && !Arrays.equals(answer, new byte[0]);
  }
}
