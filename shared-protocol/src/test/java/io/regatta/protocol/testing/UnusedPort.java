package io.regatta.protocol.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * A port of 127.0.0.1 where nobody listens, until it is closed. It is bound all the while: one that was closed before may be given to
 * another process, or to the very connection that a test opens to it. {@code FreePorts} has ports for those that will listen.
 */
public final class UnusedPort implements AutoCloseable {

  private final Socket bound = new Socket();

  /** Takes a free port. */
  public UnusedPort() throws IOException {
    bound.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
  }

  /** Returns its number. */
  public int number() {
    return bound.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    bound.close();
  }
}
