package io.regatta.protocol.http2;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.RawUnixChannelOption;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** TCP connections whose both ends are on this machine. Stateless. */
final class Loopback {
  private static final int TCP = 6;
  /** {@code TCP_CONGESTION} of Linux. */
  private static final int CONGESTION = 13;
  /** Every Linux has it, and lets everybody choose it. */
  private static final String RENO = "reno";
  static final RawUnixChannelOption CONTROL = new RawUnixChannelOption("TCP_CONGESTION", TCP, CONGESTION, RENO.length());

  private Loopback() {}

  /**
   * Has such a connection sent as fast as its peer reads, where it would be paced, that is with BBR as the system's congestion control:
   * what goes nowhere meets no congestion, and a timer for every 64 KB takes longer than to copy them. Other connections stay as they are,
   * and this one where that cannot be had.
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

  /** Whether what one address sends to the other stays on this machine. */
  static boolean joins(SocketAddress local, SocketAddress remote) {
    return local instanceof InetSocketAddress here && remote instanceof InetSocketAddress there && there.getAddress() != null
        && (there.getAddress().isLoopbackAddress() || there.getAddress().equals(here.getAddress()));
  }
}
