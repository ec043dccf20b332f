package io.regatta.protocol.http2;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.RawUnixChannelOption;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** TCP connections with both ends on this machine. Stateless. */
final class Loopback {
  private static final int TCP = 6;
  /** {@code TCP_CONGESTION} of Linux. */
  private static final int CONGESTION = 13;
  /** Available on every Linux, and allowed for every user. */
  private static final String RENO = "reno";
  static final RawUnixChannelOption CONTROL = new RawUnixChannelOption("TCP_CONGESTION", TCP, CONGESTION, RENO.length());

  private Loopback() {}

  /**
   * Lets such a connection send as fast as its peer reads, if it would be paced because BBR is the system's congestion
   * control. Loopback has no congestion, and a timer for every 64 KB takes longer than copying them. Other connections
   * stay unchanged, and this one does if that is not possible.
   */
  static void unpaced(Channel channel) {
    if (channel instanceof EpollSocketChannel && joins(channel.localAddress(), channel.remoteAddress())) {
      try {
        channel.config().setOption(CONTROL, ByteBuffer.wrap(RENO.getBytes(StandardCharsets.US_ASCII)));
      } catch (ChannelException e) {
        return; // it is slower then, and nothing else
      }
    }
  }

  /** Returns true if packets from one address to the other stay on this machine. */
  static boolean joins(SocketAddress local, SocketAddress remote) {
    return local instanceof InetSocketAddress here && remote instanceof InetSocketAddress there && there.getAddress() != null
        && (there.getAddress().isLoopbackAddress() || there.getAddress().equals(here.getAddress()));
  }
}
