package io.regatta.protocol.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * A client that sends bytes which no client of ours would, over a plain socket, and sees how the server ends the
 * connection. Owned by one thread; another one may send while it reads.
 */
public final class HostileClient implements Closeable {
  /** GOAWAY without an error, or none at all. */
  public static final long NO_ERROR = 0;
  private static final int WAIT_MILLIS = 20_000;
  private static final int FRAME_HEAD = 9;
  private static final int END_STREAM = 1;
  private static final int END_HEADERS = 4;

  private final Socket socket;
  private final long since = System.nanoTime();
  private final ByteArrayOutputStream received = new ByteArrayOutputStream();

  private HostileClient(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(WAIT_MILLIS);
    socket.setTcpNoDelay(true);
  }

  /** Connects to a port of this machine from 127.0.0.1. */
  public static HostileClient connect(int port) throws IOException {
    return new HostileClient(new Socket(InetAddress.getByName("127.0.0.1"), port));
  }

  /** The same from another address of the loopback interface; each needs a local port that no other connection has. */
  public static HostileClient connect(int port, String from) throws IOException {
    return new HostileClient(new Socket(InetAddress.getByName("127.0.0.1"), port, InetAddress.getByName(from), 0));
  }

  /**
   * Connects to a port that speaks TLS, and ends the handshake; it trusts every server and shows no certificate.
   *
   * @param protocol {@code TLSv1.3} or {@code TLSv1.2}
   */
  public static HostileClient connectTls(int port, String protocol) throws IOException {
    return connectTls(port, protocol, trustAll(), "h2", "http/1.1");
  }

  /**
   * The same with a certificate that it shows if the server asks for one.
   *
   * @param context of {@link Certificates#trustAll}
   * @param applications protocols that it offers (ALPN), e.g. {@code h2}
   */
  public static HostileClient connectTls(int port, String protocol, SSLContext context, String... applications)
      throws IOException {
    Socket plain = new Socket(InetAddress.getByName("127.0.0.1"), port);
    try {
      plain.setSoTimeout(WAIT_MILLIS);
      SSLSocket tls = (SSLSocket) context.getSocketFactory().createSocket(plain, "127.0.0.1", port, true);
      tls.setEnabledProtocols(new String[] {protocol});
      SSLParameters parameters = tls.getSSLParameters();
      parameters.setApplicationProtocols(applications);
      tls.setSSLParameters(parameters);
      tls.startHandshake();
      return new HostileClient(tls);
    } catch (IOException e) {
      plain.close();
      throw e;
    }
  }

  /** Returns the first message of a TLS client, as it is sent. */
  public static byte[] clientHello() throws IOException {
    SSLEngine engine = trustAll().createSSLEngine();
    engine.setUseClientMode(true);
    ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), hello);
    byte[] bytes = new byte[hello.flip().remaining()];
    hello.get(bytes);
    return bytes;
  }

  private static SSLContext trustAll() {
    return TrustAll.CONTEXT;
  }

  /** Made once, for it takes a while. */
  private static final class TrustAll {
    private static final SSLContext CONTEXT = Certificates.trustAll(null);
  }

  /** Returns HTTP/2's preface and empty SETTINGS. */
  public static byte[] hello() {
    return join("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII), frame(Http2FrameTypes.SETTINGS,
        0, 0, new byte[0]));
  }

  /** Returns one HTTP/2 frame. */
  public static byte[] frame(int type, int flags, int stream, byte[] payload) {
    return ByteBuffer.allocate(FRAME_HEAD + payload.length).put((byte) (payload.length >> Short.SIZE))
        .putShort((short) payload.length)
        .put((byte) type).put((byte) flags).putInt(stream).put(payload).array();
  }

  /** Returns the HEADERS of a gRPC call, with pairs of further names and values; the call stays open. */
  public static byte[] call(int stream, String path, String... more) {
    return headers(stream, false, "POST", path, more);
  }

  /** Returns the HEADERS of a request; of a POST they are those of a gRPC call. */
  public static byte[] headers(int stream, boolean ends, String method, String path, String... more) {
    String[] all = more;
    if (method.equals("POST")) {
      all = Stream.concat(Stream.of("content-type", "application/grpc", "te", "trailers"), Arrays.stream(more))
          .toArray(String[]::new);
    }
    return request(stream, ends, method, path, all);
  }

  /** Returns the HEADERS of a request with these pairs of names and values alone. */
  public static byte[] request(int stream, boolean ends, String method, String path, String... more) {
    Http2Headers headers = new DefaultHttp2Headers().method(method).path(path).scheme("http").authority("127.0.0.1");
    for (int i = 0; i < more.length; i += 2) {
      headers.add(more[i], more[i + 1]);
    }
    ByteBuf block = Unpooled.buffer();
    try {
      new DefaultHttp2HeadersEncoder().encodeHeaders(stream, headers, block);
    } catch (Http2Exception e) {
      throw new IllegalArgumentException(e);
    }
    return frame(Http2FrameTypes.HEADERS, END_HEADERS | (ends ? END_STREAM : 0), stream, ByteBufUtil.getBytes(block));
  }

  /** Returns byte arrays one after the other. */
  public static byte[] join(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  /** Returns a byte array many times over. */
  public static byte[] repeat(byte[] part, int times) {
    ByteArrayOutputStream all = new ByteArrayOutputStream(part.length * times);
    for (int i = 0; i < times; i++) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  /** Sends bytes; returns false if the server has closed the connection. */
  public boolean send(byte[]... parts) {
    try {
      socket.getOutputStream().write(parts.length == 1 ? parts[0] : join(parts));
      return true;
    } catch (IOException closed) {
      return false;
    }
  }

  /** Sends no more, but still reads; returns false if the server has closed the connection. */
  public boolean halfClose() {
    try {
      socket.shutdownOutput();
      return true;
    } catch (IOException closed) {
      return false;
    }
  }

  /** Asks for new keys of a TLS connection: KeyUpdate in TLS 1.3, another handshake in TLS 1.2. */
  public boolean renewKeys() {
    try {
      ((SSLSocket) socket).startHandshake();
      return true;
    } catch (IOException closed) {
      return false;
    }
  }

  /** Waits until this number of bytes has arrived in all. */
  public void awaitBytes(int bytes) throws IOException {
    byte[] buffer = new byte[8192];
    while (received.size() < bytes) {
      int n = socket.getInputStream().read(buffer);
      if (n < 0) {
        throw new IOException("closed after " + received.size() + " bytes");
      }
      received.write(buffer, 0, n);
    }
  }

  /**
   * Waits until this text has arrived, or the server has closed the connection.
   *
   * @throws SocketTimeoutException if neither happens
   */
  public void awaitTextOrEnd(String text) throws IOException {
    awaitOrEnd(() -> received.toString(StandardCharsets.ISO_8859_1).contains(text));
  }

  /**
   * Waits until this number of HTTP/2 frames of a type has arrived in all, or the server has closed the connection.
   *
   * @throws SocketTimeoutException if neither happens
   */
  public void awaitFramesOrEnd(int type, int count) throws IOException {
    awaitOrEnd(() -> count(type, received.toByteArray()) >= count);
  }

  private void awaitOrEnd(BooleanSupplier come) throws IOException {
    byte[] buffer = new byte[8192];
    while (!come.getAsBoolean()) {
      int n;
      try {
        n = socket.getInputStream().read(buffer);
      } catch (SocketTimeoutException open) {
        throw open;
      } catch (IOException reset) {
        return;
      }
      if (n < 0) {
        return;
      }
      received.write(buffer, 0, n);
    }
  }

  /**
   * Waits until the server has closed the connection.
   *
   * @return all that has arrived
   * @throws SocketTimeoutException if it stays open
   */
  public byte[] awaitEnd() throws IOException {
    return awaitEnd(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS));
  }

  /**
   * The same within a time after the connection's start. If that is over, the connection must be closed by now.
   *
   * @throws SocketTimeoutException if it stays open for longer
   */
  public byte[] awaitEndWithin(long millis) throws IOException {
    return awaitEnd(since + TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Waits for a moment; returns false if the connection is open still. */
  public boolean endsWithin(long millis) throws IOException {
    try {
      awaitEnd(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis));
      return true;
    } catch (SocketTimeoutException open) {
      return false;
    }
  }

  private byte[] awaitEnd(long deadline) throws IOException {
    byte[] buffer = new byte[8192];
    try {
      for (int n = read(buffer, deadline); n >= 0; n = read(buffer, deadline)) {
        received.write(buffer, 0, n);
      }
    } catch (SocketTimeoutException open) {
      throw open;
    } catch (IOException reset) {
      return received.toByteArray();
    }
    return received.toByteArray();
  }

  private int read(byte[] buffer, long deadline) throws IOException {
    long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    socket.setSoTimeout((int) Math.max(1, millis)); // 0 would be without end
    return socket.getInputStream().read(buffer);
  }

  /** Waits until the server has closed an HTTP/2 connection; returns the error of its last GOAWAY. */
  public long awaitGoAway() throws IOException {
    long[] error = {NO_ERROR};
    frames(awaitEnd(), (type, payload) -> error[0] = type == Http2FrameTypes.GO_AWAY
        ? Integer.toUnsignedLong(payload.getInt(payload.position() + Integer.BYTES)) : error[0]);
    return error[0];
  }

  /** Returns how many HTTP/2 frames of a type are in what has arrived. */
  public static int count(int type, byte[] arrived) {
    int[] count = {0};
    frames(arrived, (each, payload) -> count[0] += each == type ? 1 : 0);
    return count[0];
  }

  private static void frames(byte[] arrived, BiConsumer<Integer, ByteBuffer> each) {
    ByteBuffer bytes = ByteBuffer.wrap(arrived);
    while (bytes.remaining() >= FRAME_HEAD) {
      int length = (bytes.get() & 0xff) << Short.SIZE | bytes.getShort() & 0xffff;
      int type = bytes.get();
      bytes.position(bytes.position() + 1 + Integer.BYTES);
      if (bytes.remaining() < length) {
        return;
      }
      each.accept(type, bytes.duplicate());
      bytes.position(bytes.position() + length);
    }
  }

  /** Returns the port that it sends from. */
  public int localPort() {
    return socket.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
