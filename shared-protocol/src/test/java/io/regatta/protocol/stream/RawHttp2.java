package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.net.NetSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** An HTTP/2 client that sends whatever frames a test wants, cut as it wants, and keeps those that come. */
final class RawHttp2 {
  static final int END_STREAM = 1;
  static final int END_HEADERS = 4;
  static final int PADDED = 8;

  private final Loop loop;
  private final DefaultHttp2HeadersEncoder hpack = new DefaultHttp2HeadersEncoder();
  private final List<Frame> frames = new ArrayList<>();
  private NetSocket socket;
  private Buffer unread = Buffer.buffer();
  private Predicate<Frame> wanted;
  private Promise<Frame> found;

  record Frame(int type, int flags, int stream, Buffer payload) {}

  RawHttp2(Loop loop) {
    this.loop = loop;
  }

  /** Connects, exchanges SETTINGS and has answered the server's first PING, if it sends one within {@code awaitPing}. */
  static RawHttp2 connect(Loop loop, int port) throws Exception {
    RawHttp2 raw = new RawHttp2(loop);
    raw.socket = get(loop.on(() -> loop.vertx.createNetClient().connect(port, "127.0.0.1").onSuccess(s -> {
      raw.socket = s;
      s.handler(raw::received);
    })));
    ByteBuf preface = Http2CodecUtil.connectionPrefaceBuf();
    Buffer hello = Buffer.buffer().appendBuffer(BufferInternal.buffer(preface));
    raw.send(hello.appendBuffer(frame(Http2FrameTypes.SETTINGS, 0, 0, Buffer.buffer())));
    return raw;
  }

  static Buffer frame(int type, int flags, int stream, Buffer payload) {
    return Buffer.buffer().appendMedium(payload.length()).appendByte((byte) type).appendByte((byte) flags)
        .appendInt(stream).appendBuffer(payload);
  }

  static Buffer data(int stream, int flags, Buffer payload) {
    return frame(Http2FrameTypes.DATA, flags, stream, payload);
  }

  static Buffer padded(int stream, int flags, Buffer payload, int padding) {
    return data(stream, flags | PADDED,
        Buffer.buffer().appendByte((byte) padding).appendBuffer(payload).appendBytes(new byte[padding]));
  }

  /** The head of a call of a gRPC method. */
  Buffer call(int stream, String path) throws Exception {
    ByteBuf block = Unpooled.buffer();
    hpack.encodeHeaders(stream, new DefaultHttp2Headers().method("POST").scheme("http").path(path)
        .authority("test").set("content-type", "application/grpc").set("te", "trailers"), block);
    return frame(Http2FrameTypes.HEADERS, END_HEADERS, stream, BufferInternal.buffer(block));
  }

  void send(Buffer bytes) throws Exception {
    get(loop.on(() -> socket.write(bytes)));
  }

  /** Sends in pieces of so many bytes, each by a write of its own. */
  void send(Buffer bytes, int cut) throws Exception {
    for (int at = 0; at < bytes.length(); at += cut) {
      send(bytes.getBuffer(at, Math.min(bytes.length(), at + cut)));
    }
  }

  /** The first frame of this kind, which may have come before. */
  Frame await(Predicate<Frame> kind) throws Exception {
    Promise<Frame> promise = Promise.promise();
    loop.context.runOnContext(v -> {
      wanted = kind;
      found = promise;
      look();
    });
    return get(promise.future());
  }

  /** The server's PING, which tells it where the next frame begins, has been answered. */
  RawHttp2 awaitPing() throws Exception {
    await(f -> f.type == Http2FrameTypes.PING && f.flags == 0);
    return this;
  }

  private void received(Buffer bytes) {
    unread.appendBuffer(bytes);
    while (unread.length() >= 9 && unread.length() >= 9 + unread.getMedium(0)) {
      int end = 9 + unread.getMedium(0);
      Frame f = new Frame(unread.getByte(3), unread.getByte(4), unread.getInt(5), unread.getBuffer(9, end));
      unread = unread.getBuffer(end, unread.length());
      frames.add(f);
      if ((f.type == Http2FrameTypes.PING || f.type == Http2FrameTypes.SETTINGS) && f.flags == 0) {
        socket.write(frame(f.type, 1, 0, f.type == Http2FrameTypes.PING ? f.payload : Buffer.buffer()));
      }
    }
    look();
  }

  private void look() {
    if (found != null) {
      frames.stream().filter(wanted).findFirst().ifPresent(f -> {
        found.tryComplete(f);
        found = null;
      });
    }
  }

  /** What WINDOW_UPDATE frames have given back of a stream's window, or the connection's (0). */
  long givenBack(int stream) throws Exception {
    return get(loop.on(() -> io.vertx.core.Future.succeededFuture(frames.stream()
        .filter(f -> f.type == Http2FrameTypes.WINDOW_UPDATE && f.stream == stream)
        .mapToLong(f -> f.payload.getInt(0)).sum())));
  }
}
