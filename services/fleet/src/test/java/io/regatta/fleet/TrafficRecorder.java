package io.regatta.fleet;

import io.regatta.protocol.testing.HostileClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Listens on {@value #HOST} on the ports that services of 127.0.0.1 are going to have, hands everything on to them, and
 * keeps what clients send. A job whose services announce that host is recorded from its first call on. Thread-safe.
 */
final class TrafficRecorder implements AutoCloseable {

  /** Host for {@code node.host}; {@code node.bind} is 127.0.0.1. */
  static final String HOST = "127.0.0.2";
  private static final int MOST_BYTES = 64 << 10;
  private static final int MOST_CONNECTIONS = 500;

  private final List<ServerSocket> listening = new ArrayList<>();
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final List<ByteArrayOutputStream> sent = new CopyOnWriteArrayList<>();

  /** Listens from now on. */
  TrafficRecorder(int... ports) throws IOException {
    for (int port : ports) {
      ServerSocket server = new ServerSocket();
      server.setReuseAddress(true);
      server.bind(new InetSocketAddress(InetAddress.getByName(HOST), port));
      listening.add(server);
      daemon(() -> accept(server));
    }
  }

  private static void daemon(Runnable work) {
    Thread thread = new Thread(work, "recorder");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept(ServerSocket server) {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        Socket service = new Socket(InetAddress.getByName("127.0.0.1"), server.getLocalPort());
        client.setTcpNoDelay(true);
        service.setTcpNoDelay(true);
        open.add(client);
        open.add(service);
        ByteArrayOutputStream record = new ByteArrayOutputStream();
        if (sent.size() < MOST_CONNECTIONS) {
          sent.add(record);
        }
        daemon(() -> pump(client, service, record));
        daemon(() -> pump(service, client, null));
      } catch (IOException closedOrRefused) {
        continue; // the client sees that its connection ends
      }
    }
  }

  private static void pump(Socket from, Socket to, ByteArrayOutputStream record) {
    byte[] buffer = new byte[64 << 10];
    try (from; to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (record != null) {
          synchronized (record) {
            record.write(buffer, 0, Math.min(n, MOST_BYTES - record.size()));
          }
        }
        out.write(buffer, 0, n);
      }
    } catch (IOException closed) {
      return;
    }
  }

  /** Returns what clients have sent until now, by connection; the first {@value #MOST_BYTES} bytes of each. */
  List<byte[]> sent() {
    List<byte[]> all = new ArrayList<>();
    for (ByteArrayOutputStream record : sent) {
      synchronized (record) {
        if (record.size() > 0) {
          all.add(record.toByteArray());
        }
      }
    }
    return all;
  }

  /** Returns the frames of a recorded connection of HTTP/2, the preface first; of any other, all of it as one. */
  static List<byte[]> frames(byte[] connection) {
    byte[] preface = Arrays.copyOf(HostileClient.hello(), 24);
    if (connection.length < preface.length
        || !Arrays.equals(connection, 0, preface.length, preface, 0, preface.length)) {
      return List.of(connection);
    }
    List<byte[]> frames = new ArrayList<>(List.of(preface));
    int at = preface.length;
    while (at + 9 <= connection.length) {
      int length = 9 + ((connection[at] & 0xff) << 16 | (connection[at + 1] & 0xff) << 8 | connection[at + 2] & 0xff);
      if (length > connection.length - at) {
        break; // cut off where the recording ends
      }
      frames.add(Arrays.copyOfRange(connection, at, at + length));
      at += length;
    }
    return frames;
  }

  @Override
  public void close() throws IOException {
    for (ServerSocket server : listening) {
      server.close();
    }
    for (Socket socket : open) {
      socket.close();
    }
  }
}
