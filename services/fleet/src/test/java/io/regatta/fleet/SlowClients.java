package io.regatta.fleet;

import static io.regatta.protocol.testing.HostileClient.call;
import static io.regatta.protocol.testing.HostileClient.frame;
import static io.regatta.protocol.testing.HostileClient.headers;
import static io.regatta.protocol.testing.HostileClient.hello;
import static io.regatta.protocol.testing.HostileClient.join;
import static io.regatta.protocol.testing.HostileClient.repeat;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.handler.codec.http2.Http2FrameTypes;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.testing.HostileClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Clients without the token that hold connections by saying nothing, little, or much too slowly. Each connection begins
 * with some bytes, and then sends a byte, or a frame, in each tick until the server has closed it. Owned by one thread.
 */
final class SlowClients implements AutoCloseable {

  private static final String CHECK = "/grpc.health.v1.Health/Check";
  private static final String WATCH = "/grpc.health.v1.Health/Watch";
  private static final String GROUPS = "/regatta.Rendezvous/Groups";
  private static final int TICK_MILLIS = 40;
  /** Both ends of each are in this process, whose files are limited. */
  private static final int CONNECTIONS_AT_A_TIME = 4000;
  private static final byte[] NOTHING = new byte[0];

  private final Runnable allOpen;
  private final List<Open> open = new ArrayList<>();
  private final Queue<Ticking> ticking = new ConcurrentLinkedQueue<>();
  private final ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor();

  /** @param allOpen runs whenever as many are open as there will be at a time */
  SlowClients(Runnable allOpen) {
    this.allOpen = allOpen;
    ticks.scheduleWithFixedDelay(() -> ticking.removeIf(Ticking::isOver), TICK_MILLIS, TICK_MILLIS,
        TimeUnit.MILLISECONDS);
  }

  /** The work of a client in a tick; returns false if the server has closed the connection. */
  @FunctionalInterface
  private interface Tick {
    boolean send(HostileClient client, int tick);
  }

  /** A kind of slowness. */
  record Kind(String name, byte[] first, Tick tick) {

    private static Kind silent(String name, byte[]... first) {
      return new Kind(name, join(first), null);
    }

    /** Sends bytes one at a time, from the beginning again after the last one. */
    private static Kind drip(String name, byte[] first, byte[] bytes) {
      return new Kind(name, first, (client, tick) -> client.send(new byte[] {bytes[tick % bytes.length]}));
    }

    private static Kind often(String name, byte[] first, byte[] each) {
      return new Kind(name, first, (client, tick) -> client.send(each));
    }
  }

  private static byte[] text(String text) {
    return text.getBytes(US_ASCII);
  }

  private static byte[] settings(int id, int value) {
    return frame(Http2FrameTypes.SETTINGS, 0, 0, new byte[] {0, (byte) id, (byte) (value >> 24), (byte) (value >> 16),
        (byte) (value >> 8), (byte) value});
  }

  /** A message of the health service, whole. */
  private static byte[] message(int flags) {
    return frame(Http2FrameTypes.DATA, flags, 1, new byte[5]);
  }

  private static byte[] manyCalls() {
    byte[][] calls = new byte[99][];
    for (int i = 0; i < calls.length; i++) {
      calls[i] = headers(1 + 2 * i, true, "GET", "/health");
    }
    return join(calls);
  }

  /** Kinds of HTTP, over TCP or within TLS. */
  static List<Kind> http() {
    byte[] window = frame(Http2FrameTypes.WINDOW_UPDATE, 0, 0, new byte[] {0, 0, 0, 1});
    byte[] priority = frame(Http2FrameTypes.PRIORITY, 0, 3, new byte[] {0, 0, 0, 0, 16});
    byte[] check = join(hello(), call(1, CHECK));
    byte[] noWindow = join(text("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), settings(4, 0));
    byte[] closedWindow = join(noWindow, call(1, CHECK), message(1));
    return List.of(
        Kind.silent("silent"),
        Kind.silent("one byte", text("P")),
        Kind.drip("HTTP/2 preface byte by byte", NOTHING, hello()),
        Kind.silent("preface, SETTINGS not acknowledged", hello()),
        Kind.drip("HTTP/1.1 headers byte by byte", text("GET /health HTTP/1.1\r\nHost: a\r\nX-"), text("a: b\r\nX-")),
        Kind.silent("HTTP/1.1 headers without end", text("GET /health HTTP/1.1\r\nHost: a\r\nX-")),
        Kind.drip("HTTP/1.1 body byte by byte",
            text("POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"), text("some")),
        Kind.often("chunks without end",
            text("POST /predict HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"), text("1\r\na\r\n")),
        Kind.silent("idle after an HTTP/1.1 request", text("GET /health HTTP/1.1\r\nHost: a\r\n\r\n")),
        Kind.silent("many requests in a row, answers not read",
            repeat(text("GET /health HTTP/1.1\r\nHost: a\r\n\r\n"), 200)),
        Kind.silent("HTTP/2 headers without end", hello(),
            frame(Http2FrameTypes.HEADERS, 0, 1, new byte[] {(byte) 0x83})),
        Kind.often("CONTINUATION after CONTINUATION", join(hello(),
            frame(Http2FrameTypes.HEADERS, 0, 1, new byte[] {(byte) 0x83})),
            frame(Http2FrameTypes.CONTINUATION, 0, 1, new byte[] {(byte) 0x86})),
        Kind.silent("call without a message", check),
        Kind.silent("call of a method that needs the token", hello(), call(1, GROUPS)),
        Kind.silent("call with another token", hello(),
            call(1, GROUPS, Token.HEADER, "Bearer another-token-of-nobody")),
        Kind.silent("half a message", check, frame(Http2FrameTypes.DATA, 0, 1, new byte[] {0, 0, 0, 1, 0, 1})),
        Kind.often("DATA byte by byte", join(check, frame(Http2FrameTypes.DATA, 0, 1, new byte[] {0, 0, 0, 1, 0})),
            frame(Http2FrameTypes.DATA, 0, 1, new byte[1])),
        Kind.often("DATA of no bytes", check, frame(Http2FrameTypes.DATA, 0, 1, NOTHING)),
        Kind.silent("message, the end of the call never comes", check, message(0)),
        Kind.silent("idle after an answered call", check, message(1)),
        Kind.silent("answer that has no window", closedWindow),
        Kind.often("window that opens by one", closedWindow, window),
        Kind.silent("99 calls without a window", noWindow, manyCalls()),
        new Kind("a watch, then calls without a window", join(noWindow, call(1, WATCH), message(1)),
            (client, tick) -> client.send(headers(3 + 2 * tick, true, "GET", "/health"))),
        Kind.often("PING alone", hello(), frame(Http2FrameTypes.PING, 0, 0, new byte[8])),
        Kind.often("SETTINGS again and again", hello(), settings(3, 100)),
        Kind.often("PRIORITY again and again", hello(), repeat(priority, 50)),
        Kind.often("unknown frames", hello(), frame(0x42, 0, 0, new byte[10])),
        Kind.drip("frame byte by byte", hello(), join(frame(0x42, 0, 0, new byte[255]))),
        new Kind("half-closed after a request", text("GET /health HTTP/1.1\r\nHost: a\r\n\r\n"),
            (client, tick) -> tick > 0 || client.halfClose()),
        new Kind("half-closed at once", NOTHING, (client, tick) -> tick > 0 || client.halfClose()));
  }

  /** Kinds of TLS handshakes, over TCP. */
  static List<Kind> handshakes() throws IOException {
    byte[] hello = HostileClient.clientHello();
    byte[] half = Arrays.copyOf(hello, hello.length / 2);
    return List.of(
        Kind.silent("no ClientHello"),
        Kind.silent("half a ClientHello", half),
        Kind.drip("ClientHello byte by byte", NOTHING, half),
        Kind.silent("nothing after ServerHello", hello),
        Kind.often("change_cipher_spec again and again", hello, new byte[] {20, 3, 3, 0, 1, 1}),
        Kind.silent("a plain call", HostileClient.hello(), call(1, CHECK)),
        Kind.silent("record of 16 kB that does not come", new byte[] {22, 3, 1, 0x40, 0, 1}));
  }

  /** Kinds of clients that have ended a TLS handshake. */
  static List<Kind> withinTls() {
    return List.of(
        Kind.silent("silent after the handshake"),
        new Kind("new keys again and again", NOTHING, (client, tick) -> client.renewKeys()),
        new Kind("new keys in floods", hello(), (client, tick) -> {
          for (int i = 0; i < 20; i++) {
            if (!client.renewKeys()) {
              return false;
            }
          }
          return true;
        }));
  }

  /** Kinds for Hazelcast's port, which speaks another protocol. */
  static List<Kind> members() {
    byte[] id = text("0123456789abcdef0123456789abcdef".substring(0, Token.ID_CHARS));
    byte[] garbage = new byte[64 << 10];
    ThreadLocalRandom.current().nextBytes(garbage);
    return List.of(
        Kind.silent("silent"),
        Kind.silent("half a greeting", text("RG")),
        Kind.silent("a greeting of another token", text("RGP"), id, new byte[32]),
        Kind.drip("greeting byte by byte", NOTHING, join(text("RGP"), id, new byte[32])),
        Kind.silent("garbage", garbage),
        Kind.silent("a member's packet of 2 GiB", text("HZC"), new byte[] {4, 0, 0, 0, 0, 0x7f, -1, -1, -1}, garbage),
        Kind.silent("a client", text("CP2"), new byte[] {0x7f, -1, -1, -1}),
        Kind.silent("HTTP", text("GET /hazelcast/rest/cluster HTTP/1.1\r\nHost: a\r\n\r\n")),
        Kind.silent("call", hello(), headers(1, true, "GET", "/health")),
        Kind.silent("ClientHello of 16 kB that does not come", new byte[] {22, 3, 1, 0x40, 0, 1}));
  }

  /**
   * Opens connections of each kind to each port.
   *
   * @param each of a kind to a port
   * @return how many they are
   */
  int open(Collection<Integer> ports, List<Kind> kinds, int each, Connector connector) throws IOException {
    for (Kind kind : kinds) {
      for (int port : ports) {
        for (int i = 0; i < each; i++) {
          HostileClient client = connector.connect(port, kind.first());
          open.add(new Open(kind, port, client));
          client.send(kind.first());
          if (kind.tick() != null) {
            ticking.add(new Ticking(kind, client));
          }
          if (open.size() == CONNECTIONS_AT_A_TIME) {
            awaitEnds();
          }
        }
      }
    }
    return kinds.size() * ports.size() * each;
  }

  /**
   * Waits until the server has closed all connections.
   *
   * @throws IOException if one was not closed in time, which names its kind
   */
  void awaitEnds() throws IOException {
    allOpen.run();
    for (Open each : open) {
      try {
        each.client().awaitEndWithin(AttackedJob.CLOSED_WITHIN_MILLIS);
      } catch (IOException e) {
        throw new IOException("a connection of port " + each.port() + " stays open for more than "
            + AttackedJob.CLOSED_WITHIN_MILLIS + " ms: " + each.kind().name(), e);
      }
    }
    ticking.clear();
    for (Open each : open) { // none before the last one has ended: only the server ends connections
      each.client().close();
    }
    open.clear();
  }

  @Override
  public void close() throws IOException {
    ticks.shutdownNow();
    for (Open each : open) {
      each.client().close();
    }
  }

  /** A connection, and what it does. */
  private record Open(Kind kind, int port, HostileClient client) {}

  private static final class Ticking {
    private final Kind kind;
    private final HostileClient client;
    private int tick;

    private Ticking(Kind kind, HostileClient client) {
      this.kind = kind;
      this.client = client;
    }

    private boolean isOver() {
      return !kind.tick().send(client, tick++);
    }
  }
}
