package io.regatta.load.dense;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.regatta.protocol.memory.DirectMemory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Netty's channels with handlers of our own and direct buffers, a gradient sent in place: the limit of TCP on the JVM.
 * One loop per process; epoll if there is one.
 */
final class NettyPeer implements Peer {
  private static final ByteBufAllocator POOL = DirectMemory.ALLOCATOR;

  private final boolean epoll = Epoll.isAvailable();
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());

  @Override
  public int serve(DenseTask task) {
    Channel server = new ServerBootstrap().group(group)
        .channel(epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
        .childOption(ChannelOption.TCP_NODELAY, true).childOption(ChannelOption.ALLOCATOR, POOL)
        .childHandler(new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            channel.pipeline().addLast(new Reader(new RawShard(task, new Wire(channel))));
          }
        }).bind("127.0.0.1", 0).syncUninterruptibly().channel();
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  @Override
  public Client connect(int port, DenseTask task) {
    Reader reader = new Reader();
    Channel channel = new Bootstrap().group(group)
        .channel(epoll ? EpollSocketChannel.class : NioSocketChannel.class)
        .option(ChannelOption.TCP_NODELAY, true).option(ChannelOption.ALLOCATOR, POOL)
        .option(ChannelOption.WRITE_BUFFER_WATER_MARK,
            new WriteBufferWaterMark(task.chunkBytes(), 2 * task.chunkBytes()))
        .handler(reader).connect("127.0.0.1", port).syncUninterruptibly().channel();
    RawTrainer trainer = new RawTrainer(task, channel.eventLoop(), new Wire(channel));
    channel.eventLoop().submit(() -> reader.trainer(trainer)).syncUninterruptibly();
    return trainer;
  }

  @Override
  public void close() {
    group.shutdownGracefully();
  }

  /** Feeds the frames; a trainer's reader continues when the channel is writable. */
  private static final class Reader extends ChannelInboundHandlerAdapter {
    private RawFrames frames;
    private RawTrainer trainer;

    Reader() {}

    Reader(RawShard shard) {
      frames = new RawFrames(shard, Unpooled.buffer(RawFrames.HEADER_BYTES));
    }

    void trainer(RawTrainer t) {
      trainer = t;
      frames = new RawFrames(t, Unpooled.buffer(RawFrames.HEADER_BYTES));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf in = (ByteBuf) message;
      try {
        frames.read(in);
      } finally {
        in.release();
      }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
      if (trainer != null) {
        trainer.pump();
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      if (trainer != null) {
        trainer.lost();
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      cause.printStackTrace();
      ctx.close();
    }
  }

  private static final class Wire implements RawWire {
    private final Channel channel;
    /** The copy of a pull: its memory stays, since pages of the pool would come anew from the system for each. */
    private ByteBuf copy = Unpooled.EMPTY_BUFFER;

    Wire(Channel channel) {
      this.channel = channel;
    }

    @Override
    public void send(int what) {
      header(what, 0, 0);
      channel.flush();
    }

    @Override
    public void send(int what, ByteBuffer vector, int element, int count) {
      int bytes = count * Float.BYTES;
      header(what, bytes, element);
      channel.writeAndFlush(Unpooled.wrappedBuffer(vector.slice(element * Float.BYTES, bytes)), channel.voidPromise());
    }

    @Override
    public void sendAll(int what, float[] vector, int chunkElements) {
      int bytes = vector.length * Float.BYTES;
      if (copy.capacity() < bytes) {
        copy = Unpooled.directBuffer(bytes, bytes);
      }
      copy.nioBuffer(0, bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(vector);
      for (int at = 0; at < vector.length; at += chunkElements) {
        int n = Math.min(chunkElements, vector.length - at);
        header(what, n * Float.BYTES, at);
        channel.write(copy.retainedSlice(at * Float.BYTES, n * Float.BYTES), channel.voidPromise());
      }
      channel.flush();
    }

    private void header(int what, int bytes, int element) {
      ByteBuf header = channel.alloc().directBuffer(RawFrames.HEADER_BYTES);
      header.writeInt(what).writeInt(bytes).writeInt(element);
      channel.write(header, channel.voidPromise());
    }

    @Override
    public boolean full() {
      return !channel.isWritable();
    }
  }
}
