package io.regatta.fleet;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.testing.HostileClient;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Bytes that a client of a job has sent on one connection, as frames of HTTP/2, the preface first; of any other
 * protocol they are one frame. A recorded proof of the token admits nobody again, so each call is given a header of its
 * own. Immutable.
 */
record Recording(List<byte[]> frames) {
  private static final int HEAD = 9;
  private static final int PADDED = 8;
  private static final int PRIORITY = 0x20;
  private static final int PRIORITY_BYTES = 5;
  private static final int END_STREAM = 1;

  /** Divides the bytes of a connection; a last frame that is cut off is left out. */
  static Recording of(byte[] connection) {
    byte[] preface = Arrays.copyOf(HostileClient.hello(), HostileClient.hello().length - HEAD);
    if (connection.length < preface.length
        || !Arrays.equals(connection, 0, preface.length, preface, 0, preface.length)) {
      return new Recording(List.of(connection));
    }
    List<byte[]> frames = new ArrayList<>(List.of(preface));
    int at = preface.length;
    while (at + HEAD <= connection.length) {
      int length = HEAD + ((connection[at] & 0xff) << 16 | (connection[at + 1] & 0xff) << 8
          | connection[at + 2] & 0xff);
      if (length > connection.length - at) {
        break;
      }
      frames.add(Arrays.copyOfRange(connection, at, at + length));
      at += length;
    }
    return new Recording(frames);
  }

  /** Returns the same calls with another header {@code authorization}. */
  Recording withAuthorization(String authorization) {
    return with(authorization, UnaryOperator.identity());
  }

  /**
   * Returns the calls with another header {@code authorization}, those of one path at another one that takes the same
   * messages.
   */
  Recording redirected(String from, String to, String authorization) {
    return with(authorization, path -> path.equals(from) ? to : path);
  }

  private Recording with(String authorization, UnaryOperator<String> path) {
    DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
    List<byte[]> changed = new ArrayList<>();
    for (byte[] frame : frames) {
      changed.add(isCall(frame) ? headers(decoder, frame, authorization, path) : frame);
    }
    return new Recording(changed);
  }

  /** Returns the paths of the calls. */
  Set<String> paths() {
    DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
    Set<String> paths = new HashSet<>();
    for (byte[] frame : frames) {
      if (isCall(frame)) {
        paths.add(decoded(decoder, frame).path().toString());
      }
    }
    return paths;
  }

  /** The first frame is the preface, or all bytes of another protocol. */
  private boolean isCall(byte[] frame) {
    return frame != frames.get(0) && frame[3] == Http2FrameTypes.HEADERS;
  }

  private static int stream(byte[] frame) {
    return (frame[5] & 0x7f) << 24 | (frame[6] & 0xff) << 16 | (frame[7] & 0xff) << 8 | frame[8] & 0xff;
  }

  private static Http2Headers decoded(DefaultHttp2HeadersDecoder decoder, byte[] frame) {
    int flags = frame[4];
    int padded = (flags & PADDED) != 0 ? 1 : 0;
    int from = HEAD + padded + ((flags & PRIORITY) != 0 ? PRIORITY_BYTES : 0);
    int padding = padded * (frame[HEAD] & 0xff);
    ByteBuf block = Unpooled.wrappedBuffer(frame, from, frame.length - from - padding);
    try {
      return decoder.decodeHeaders(stream(frame), block);
    } catch (Http2Exception e) {
      throw new IllegalStateException("a header list of the job cannot be read", e);
    }
  }

  private static byte[] headers(DefaultHttp2HeadersDecoder decoder, byte[] frame, String authorization,
      UnaryOperator<String> path) {
    Http2Headers headers = decoded(decoder, frame);
    List<String> more = new ArrayList<>(List.of(Token.HEADER, authorization));
    for (Map.Entry<CharSequence, CharSequence> header : headers) {
      String name = header.getKey().toString();
      if (!name.startsWith(":") && !name.equals(Token.HEADER)) {
        more.addAll(List.of(name, header.getValue().toString()));
      }
    }
    return HostileClient.request(stream(frame), (frame[4] & END_STREAM) != 0, headers.method().toString(),
        path.apply(headers.path().toString()), more.toArray(String[]::new));
  }
}
