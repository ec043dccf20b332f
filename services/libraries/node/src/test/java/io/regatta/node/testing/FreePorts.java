package io.regatta.node.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * Ports for tests that must name one beforehand, e.g. a seed; everything else binds to port 0. They lie below those that
 * systems deal out to who binds to 0 (Linux from 32768 on), so that no such socket takes one before its owner comes. One that has been
 * given to a test is given to no other of this JVM, nor are those next to it, which a server's shards may take.
 */
public final class FreePorts {

  private static final int LOWEST = 10_000;
  private static final int HIGHEST = 32_000;
  private static final int TRIES = 1000;
  private static final int APART = 16;
  /** Guarded by the class. */
  private static final List<Integer> GIVEN = new ArrayList<>();

  private FreePorts() {}

  /** A loopback port that was free a moment ago. Any thread. */
  public static int one() {
    return first(1);
  }

  /** Returns the first of this number of loopback ports in a row that were free a moment ago. Any thread. */
  public static synchronized int first(int ports) {
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
      if (GIVEN.stream().noneMatch(given -> Math.abs(given - port) < APART)
          && IntStream.range(port, port + ports).allMatch(FreePorts::isFree)) {
        GIVEN.add(port);
        return port;
      }
    }
    throw new IllegalStateException("no " + ports + " free port(s) in a row between " + LOWEST + " and " + HIGHEST);
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException taken) {
      return false;
    }
  }
}
