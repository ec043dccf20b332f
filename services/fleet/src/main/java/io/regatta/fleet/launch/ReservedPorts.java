package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Ports held for processes that have not been started yet. Owned by the launcher's thread. A socket that is bound and
 * does not listen keeps a port from processes that ask for any free one. A process that asks for just this port, with
 * SO_REUSEADDR as servers do, gets it. An announced port is thus not lost to a third process between its choice and its
 * use.
 */
public final class ReservedPorts implements AutoCloseable {

  private static final int TRIES = 100;
  private final List<SocketChannel> held = new ArrayList<>();

  /**
   * Holds any free ports that follow each other.
   *
   * @param host the address that will be listened on
   * @return the first
   */
  public int any(String host, int count) {
    for (int attempt = 0; attempt < TRIES; attempt++) {
      List<SocketChannel> run = new ArrayList<>();
      try {
        run.add(bound(host, 0));
        int first = ((InetSocketAddress) run.get(0).getLocalAddress()).getPort();
        for (int i = 1; i < count; i++) {
          run.add(bound(host, first + i));
        }
        held.addAll(run);
        return first;
      } catch (IOException | IllegalArgumentException taken) {
        run.forEach(ReservedPorts::close);
        if (count == 1) {
          throw new InvalidInput("no port can be had on " + host + ": " + taken.getMessage());
        }
      }
    }
    throw new InvalidInput("no " + count + " ports that follow each other are free on " + host + ": give --start_port");
  }

  /**
   * Holds one certain port.
   *
   * @param what the process that will listen there, for the message
   * @throws InvalidInput if another process has it
   */
  public void exactly(String host, int port, String what) {
    try {
      held.add(bound(host, port));
    } catch (IOException | IllegalArgumentException e) {
      throw new InvalidInput(what + " cannot have port " + port + " on " + host + ": " + e.getMessage()
          + ". Somebody else listens there, or the address is none of this machine");
    }
  }

  private static SocketChannel bound(String host, int port) throws IOException {
    SocketChannel socket = SocketChannel.open();
    try {
      socket.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      InetSocketAddress at = new InetSocketAddress(host, port);
      if (at.isUnresolved()) {
        throw new IOException(host + " is not known");
      }
      return socket.bind(at);
    } catch (IOException | IllegalArgumentException e) {
      close(socket);
      throw e;
    }
  }

  private static void close(SocketChannel socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    held.forEach(ReservedPorts::close);
    held.clear();
  }
}
