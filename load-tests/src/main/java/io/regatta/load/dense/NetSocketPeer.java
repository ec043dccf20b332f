package io.regatta.load.dense;

import io.netty.buffer.Unpooled;
import io.regatta.load.process.WorkerLoop;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.vertx.NettyParts;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Vert.x's NetSocket in its usual use: Buffers in both directions, with native transport. Received data are applied
 * straight from their Buffer, for which a user would have to know an internal class.
 */
final class NetSocketPeer implements Peer {
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  /** Kept, since Vert.x closes the connections of a client without references. */
  private final NetClient client = vertx.createNetClient(new NetClientOptions().setTcpNoDelay(true));

  @Override
  public int serve(DenseTask task) throws Exception {
    return WorkerLoop.on(vertx).call(() -> vertx.createNetServer(new NetServerOptions().setTcpNoDelay(true))
        .connectHandler(socket -> {
          RawFrames frames = frames(new RawShard(task, new Wire(socket)));
          socket.handler(b -> frames.read(NettyParts.bytes(b)));
        }).listen(0, "127.0.0.1")).actualPort();
  }

  @Override
  public Client connect(int port, DenseTask task) throws Exception {
    WorkerLoop loop = WorkerLoop.on(vertx);
    return loop.call(() -> client.connect(port, "127.0.0.1").map(socket -> {
      socket.setWriteQueueMaxSize(2 * task.chunkBytes());
      RawTrainer trainer = new RawTrainer(task, loop, new Wire(socket));
      RawFrames frames = frames(trainer);
      socket.handler(b -> frames.read(NettyParts.bytes(b)));
      socket.drainHandler(v -> trainer.pump());
      socket.closeHandler(v -> trainer.lost());
      return trainer;
    }));
  }

  private static RawFrames frames(RawFrames.Sink sink) {
    return new RawFrames(sink, Unpooled.buffer(RawFrames.HEADER_BYTES));
  }

  @Override
  public void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get();
  }

  private record Wire(NetSocket socket) implements RawWire {

    @Override
    public void send(int what) {
      socket.write(Buffer.buffer(RawFrames.HEADER_BYTES).appendInt(what).appendInt(0).appendInt(0));
    }

    @Override
    public void send(int what, ByteBuffer vector, int element, int count) {
      byte[] bytes = new byte[count * Float.BYTES];
      vector.get(element * Float.BYTES, bytes);
      send(what, bytes, element);
    }

    private void send(int what, byte[] bytes, int element) {
      socket.write(Buffer.buffer(RawFrames.HEADER_BYTES).appendInt(what).appendInt(bytes.length).appendInt(element));
      socket.write(Buffer.buffer(bytes));
    }

    @Override
    public void sendAll(int what, float[] vector, int chunkElements) {
      for (int at = 0; at < vector.length; at += chunkElements) {
        int n = Math.min(chunkElements, vector.length - at);
        byte[] bytes = new byte[n * Float.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(vector, at, n);
        send(what, bytes, at);
      }
    }

    @Override
    public boolean full() {
      return socket.writeQueueFull();
    }
  }
}
