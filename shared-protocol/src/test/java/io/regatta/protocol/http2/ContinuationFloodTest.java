package io.regatta.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.regatta.protocol.security.PeerSecurity;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A client that continues the headers of one request without end, in empty frames that count towards no limit of bytes,
 * is disconnected (CVE-2026-33871). The limit is the HTTP/2 library's; the servers rely on it.
 */
class ContinuationFloodTest {

  private static final int SECONDS = 30;
  private static final int FRAMES = 100;
  private static final byte[] GET_SLASH = {(byte) 0x82, (byte) 0x84, (byte) 0x86};

  @Test
  void empty_continuations_end_the_connection() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      int port = PeerSecurity.NONE.server(vertx, new HttpServerOptions()).requestHandler(r -> r.response().end())
          .listen(0, "127.0.0.1")
          .await(SECONDS, TimeUnit.SECONDS).actualPort();
      try (Socket socket = new Socket("127.0.0.1", port)) {
        socket.setSoTimeout(SECONDS * 1000);
        socket.getOutputStream().write(flood());
        assertThat(errorOfGoAway(new DataInputStream(socket.getInputStream())))
            .isEqualTo(Http2Error.ENHANCE_YOUR_CALM.code());
      }
    } finally {
      vertx.close().await(SECONDS, TimeUnit.SECONDS);
    }
  }

  /** The last frame is an error of protocol there, so a server that has taken all others answers with another code. */
  private static byte[] flood() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    frame(out, Http2FrameTypes.SETTINGS, 0, new byte[0]);
    frame(out, Http2FrameTypes.HEADERS, 1, GET_SLASH);
    for (int i = 0; i < FRAMES; i++) {
      frame(out, Http2FrameTypes.CONTINUATION, 1, new byte[0]);
    }
    frame(out, Http2FrameTypes.PING, 0, new byte[Long.BYTES]);
    return bytes.toByteArray();
  }

  private static void frame(DataOutputStream out, byte type, int stream, byte[] payload) throws IOException {
    out.writeByte(0);
    out.writeShort(payload.length);
    out.writeByte(type);
    out.writeByte(0);
    out.writeInt(stream);
    out.write(payload);
  }

  private static long errorOfGoAway(DataInputStream in) throws IOException {
    while (true) {
      int length = in.readUnsignedByte() << Short.SIZE | in.readUnsignedShort();
      byte type = in.readByte();
      in.readByte();
      in.readInt();
      if (type == Http2FrameTypes.GO_AWAY) {
        in.readInt();
        return Integer.toUnsignedLong(in.readInt());
      }
      in.readNBytes(length);
    }
  }
}
