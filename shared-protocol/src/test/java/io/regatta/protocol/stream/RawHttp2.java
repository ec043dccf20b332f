package io.regatta.protocol.stream;

import static io.regatta.protocol.stream.Loop.get;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** An HTTP/2 peer that sends whatever frames a test wants, cut as it wants, and keeps those that come. */
final class RawHttp2 {
  static final int END_STREAM = 1;
  static final int END_HEADERS = 4;
  static final int PADDED = 8;

  private final Loop loop;
  private final DefaultHttp2HeadersEncoder hpack = new DefaultHttp2HeadersEncoder();
  private final List<Frame> frames = new ArrayList<>();
  private NetSocket socket;
  /** Null at a server. Held: one that nobody holds may be closed. */
  private NetClient client;
  /** Remaining bytes of the client's preface, which is no frame. */
  private int preface;
  private Buffer unread = Buffer.buffer();
  private long pings;
  private Predicate<Frame> wanted;
  private Promise<Frame> found;

  record Frame(int type, int flags, int stream, Buffer payload) {}

  RawHttp2(Loop loop) {
    this.loop = loop;
  }

  /** Connects, exchanges SETTINGS and has answered the server's first PING, if it sends one within {@code awaitPing}. */
  static RawHttp2 connect(Loop loop, int port) throws Exception {
    RawHttp2 raw = new RawHttp2(loop);
    raw.client = loop.vertx.createNetClient();
    raw.socket = get(loop.on(() -> raw.client.connect(port, "127.0.0.1").onSuccess(s -> {
      raw.socket = s;
      s.handler(raw::received);
    })));
    ByteBuf preface = Http2CodecUtil.connectionPrefaceBuf();
    Buffer hello = Buffer.buffer().appendBuffer(BufferInternal.buffer(preface));
    raw.send(hello.appendBuffer(frame(Http2FrameTypes.SETTINGS, 0, 0, Buffer.buffer())));
    return raw;
  }

  /** The server's end of a connection, to which it has said SETTINGS; to be called on the loop. */
  static RawHttp2 accept(Loop loop, NetSocket socket) {
    RawHttp2 raw = new RawHttp2(loop);
    raw.socket = socket;
    raw.preface = Http2CodecUtil.connectionPrefaceBuf().readableBytes();
    socket.handler(raw::received);
    socket.write(frame(Http2FrameTypes.SETTINGS, 0, 0, Buffer.buffer()));
    return raw;
  }

  static Buffer settings(int setting, int value) {
    return frame(Http2FrameTypes.SETTINGS, 0, 0, Buffer.buffer().appendUnsignedShort(setting).appendInt(value));
  }

  /** More room in the window of a stream, or of the connection (0). */
  static Buffer windowUpdate(int stream, int bytes) {
    return frame(Http2FrameTypes.WINDOW_UPDATE, 0, stream, Buffer.buffer().appendInt(bytes));
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
    return headers(stream, 0, new DefaultHttp2Headers().method("POST").scheme("http").path(path)
        .authority("test").set("content-type", "application/grpc").set("te", "trailers"));
  }

  /** The head of a server's answer. */
  Buffer answer(int stream) throws Exception {
    return headers(stream, 0, new DefaultHttp2Headers().status("200").set("content-type", "application/grpc"));
  }

  /** The end of a server's answer. */
  Buffer trailers(int stream) throws Exception {
    return headers(stream, END_STREAM, new DefaultHttp2Headers().set("grpc-status", "0"));
  }

  private Buffer headers(int stream, int flags, Http2Headers headers) throws Exception {
    ByteBuf block = Unpooled.buffer();
    hpack.encodeHeaders(stream, headers, block);
    return frame(Http2FrameTypes.HEADERS, flags | END_HEADERS, stream, BufferInternal.buffer(block));
  }

  void send(Buffer bytes) throws Exception {
    get(loop.on(() -> socket.write(bytes)));
  }

  /** Sends in fragments of this number of bytes, each by a write of its own. */
  void send(Buffer bytes, int cut) throws Exception {
    for (int at = 0; at < bytes.length(); at += cut) {
      send(bytes.getBuffer(at, Math.min(bytes.length(), at + cut)));
    }
  }

  Future<Void> close() {
    return loop.on(socket::close);
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
    int skipped = Math.min(preface, bytes.length());
    preface -= skipped;
    unread.appendBuffer(bytes.slice(skipped, bytes.length()));
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

  /** The peer has done with all that was sent before, and its answers have come. */
  void settle() throws Exception {
    for (long i = 1; i <= 2; i++) { // it answers a PING at once, but what its writer has to say at the end of a read
      Buffer data = Buffer.buffer().appendLong(++pings);
      send(frame(Http2FrameTypes.PING, 0, 0, data));
      await(f -> f.type == Http2FrameTypes.PING && f.flags == 1 && f.payload.equals(data));
    }
  }

  private void look() {
    if (found != null) {
      frames.stream().filter(wanted).findFirst().ifPresent(f -> {
        found.tryComplete(f);
        found = null;
      });
    }
  }

  /** Returns the bytes that WINDOW_UPDATE frames have returned of a stream's window, or the connection's (0). */
  long givenBack(int stream) throws Exception {
    return frames(Http2FrameTypes.WINDOW_UPDATE, stream).stream().mapToLong(f -> f.payload.getInt(0)).sum();
  }

  /** The content of the DATA that has come on a stream. */
  Buffer content(int stream) throws Exception {
    Buffer content = Buffer.buffer();
    frames(Http2FrameTypes.DATA, stream).forEach(f -> content.appendBuffer(f.payload));
    return content;
  }

  /** The frames of a type that have come on a stream, in order. */
  List<Frame> frames(int type, int stream) throws Exception {
    return get(loop.on(() -> Future.succeededFuture(
        frames.stream().filter(f -> f.type == type && f.stream == stream).toList())));
  }
}
