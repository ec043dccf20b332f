package io.regatta.fleet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * Relay on {@value #HOST} on the ports that services of 127.0.0.1 are going to have. It forwards everything to them,
 * and keeps the beginning of what clients send. A job whose services announce that host is recorded from its first call on. If the job
 * has TLS, the relay ends it on both sides with the job's certificate. Thread-safe.
 */
final class TrafficRecorder implements AutoCloseable {

  /** Host for {@code node.host}; {@code node.bind} is 127.0.0.1. */
  static final String HOST = "127.0.0.2";
  private static final int MOST_BYTES = 16 << 10;
  private static final int MOST_CONNECTIONS = 500;
  /** Protocols of the job's ports within TLS: gRPC and HTTP, and Hazelcast's members. */
  private static final String[] APPLICATIONS = {"h2", "http/1.1", Connector.MEMBER};

  private final List<ServerSocket> listening = new ArrayList<>();
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final List<ByteArrayOutputStream> sent = new CopyOnWriteArrayList<>();

  private final SSLContext tls;

  /**
   * Listens from now on.
   *
   * @param tls context of both sides; null: the job has no TLS
   */
  TrafficRecorder(SSLContext tls, int... ports) throws IOException {
    this.tls = tls;
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
        client.setTcpNoDelay(true);
        open.add(client);
        daemon(() -> relay(client, server.getLocalPort()));
      } catch (IOException closedOrRefused) {
        continue; // the client sees that its connection ends
      }
    }
  }

  private void relay(Socket accepted, int port) {
    try {
      Socket client = tls == null ? accepted : ofClient(accepted);
      Socket plain = new Socket(InetAddress.getByName("127.0.0.1"), port);
      plain.setTcpNoDelay(true);
      open.removeIf(Socket::isClosed);
      open.add(plain);
      Socket service = tls == null ? plain : ofService(plain, ((SSLSocket) client).getApplicationProtocol());
      ByteArrayOutputStream record = new ByteArrayOutputStream();
      if (sent.size() < MOST_CONNECTIONS) {
        sent.add(record);
      }
      daemon(() -> pump(service, client, null));
      pump(client, service, record);
    } catch (IOException refused) {
      close(accepted);
    }
  }

  private SSLSocket ofClient(Socket accepted) throws IOException {
    SSLSocket socket = (SSLSocket) tls.getSocketFactory().createSocket(accepted, null, true);
    socket.setUseClientMode(false);
    return shaken(socket, APPLICATIONS);
  }

  private SSLSocket ofService(Socket plain, String protocol) throws IOException {
    SSLSocket socket = (SSLSocket) tls.getSocketFactory().createSocket(plain, HOST, plain.getPort(), true);
    return protocol.isEmpty() ? shaken(socket) : shaken(socket, protocol);
  }

  private static SSLSocket shaken(SSLSocket socket, String... protocols) throws IOException {
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setApplicationProtocols(protocols);
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    return socket;
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException closed) {
      return;
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
