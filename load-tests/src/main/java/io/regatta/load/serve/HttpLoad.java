package io.regatta.load.serve;

import io.regatta.load.process.Task;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Clients that post the same requests on several connections, each as soon as its last answer has come. One thread and
 * plain sockets, so that the clients take little of the cores on which the server runs.
 */
final class HttpLoad implements Task {

  private static final int ANSWER_BYTES = 1 << 18;
  private static final byte[] HEAD_END = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final String LENGTH = "content-length:";

  private final int port;
  private final List<String> lines;

  HttpLoad(JsonObject setup) throws IOException {
    port = setup.getInteger("port");
    lines = Files.readAllLines(Path.of(setup.getString("lines")));
  }

  /** Runs requests of {@code examples} on {@code connections} for {@code seconds}. */
  @Override
  public JsonObject run(JsonObject command) throws IOException {
    List<ByteBuffer> requests = requests(command.getInteger("examples"));
    Load load = new Load(port, command.getInteger("connections"), requests);
    try {
      load.run((long) (command.getDouble("for") * 1e9));
    } finally {
      load.close();
    }
    long[] sorted = load.nanos();
    Arrays.sort(sorted);
    return new JsonObject().put("requests", sorted.length).put("p50", quantile(sorted, 0.5))
        .put("p99", quantile(sorted, 0.99))
        .put("answer", load.firstAnswer);
  }

  /** Returns milliseconds. */
  private static double quantile(long[] sorted, double q) {
    return sorted.length == 0 ? Double.NaN
        : sorted[(int) Math.min(sorted.length - 1, Math.floor(q * sorted.length))] * 1e-6;
  }

  private List<ByteBuffer> requests(int examples) {
    List<ByteBuffer> requests = new ArrayList<>();
    for (int from = 0; from + examples <= lines.size(); from += examples) {
      byte[] body = String.join("\n", lines.subList(from, from + examples)).getBytes(StandardCharsets.UTF_8);
      byte[] head = ("POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: " + body.length + "\r\n\r\n")
          .getBytes(StandardCharsets.US_ASCII);
      requests.add(ByteBuffer.allocateDirect(head.length + body.length).put(head).put(body).flip());
    }
    return requests;
  }

  /** The connections of one run. */
  private static final class Load implements AutoCloseable {

    private final List<ByteBuffer> requests;
    private final Selector selector = Selector.open();
    private final List<Connection> connections = new ArrayList<>();
    private long[] nanos = new long[1 << 16];
    private int answered;
    private int next;
    private String firstAnswer = "";

    Load(int port, int count, List<ByteBuffer> requests) throws IOException {
      this.requests = requests;
      for (int i = 0; i < count; i++) {
        connections.add(new Connection(port));
      }
    }

    void run(long forNanos) throws IOException {
      long end = System.nanoTime() + forNanos;
      for (Connection connection : connections) {
        connection.send();
      }
      int open = connections.size();
      while (open > 0) {
        selector.select();
        for (SelectionKey key : selector.selectedKeys()) {
          Connection connection = (Connection) key.attachment();
          if (key.isWritable()) {
            connection.write();
          }
          if (key.isReadable() && connection.read()) {
            if (System.nanoTime() < end) {
              connection.send();
            } else {
              open--;
              key.cancel();
            }
          }
        }
        selector.selectedKeys().clear();
      }
    }

    long[] nanos() {
      return Arrays.copyOf(nanos, answered);
    }

    @Override
    public void close() throws IOException {
      for (Connection connection : connections) {
        connection.channel.close();
      }
      selector.close();
    }

    private final class Connection {
      private final SocketChannel channel;
      private final SelectionKey key;
      private final ByteBuffer answer = ByteBuffer.allocate(ANSWER_BYTES);
      private ByteBuffer request;
      private long sentNanos;

      Connection(int port) throws IOException {
        channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
        channel.socket().setTcpNoDelay(true);
        channel.configureBlocking(false);
        key = channel.register(selector, SelectionKey.OP_READ, this);
      }

      void send() throws IOException {
        request = requests.get(next++ % requests.size()).duplicate();
        sentNanos = System.nanoTime();
        write();
      }

      void write() throws IOException {
        channel.write(request);
        key.interestOps(request.hasRemaining() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
      }

      /** Returns true once the answer is complete. */
      boolean read() throws IOException {
        if (channel.read(answer) < 0) {
          throw new IOException("the server has closed a connection after " + answered + " answers");
        }
        int body = head();
        if (body < 0 || answer.position() < body + length(body)) {
          return false;
        }
        long now = System.nanoTime();
        if (answered == nanos.length) {
          nanos = Arrays.copyOf(nanos, 2 * answered);
        }
        nanos[answered++] = now - sentNanos;
        String head = new String(answer.array(), 0, 12, StandardCharsets.US_ASCII);
        if (!head.equals("HTTP/1.1 200")) {
          throw new IOException("the server answered " + new String(answer.array(), 0, answer.position(),
              StandardCharsets.UTF_8));
        }
        if (answered == 1) {
          firstAnswer = new String(answer.array(), body, answer.position() - body, StandardCharsets.UTF_8);
        }
        answer.clear();
        return true;
      }

      /** Returns the index after the head; -1 if it has not come. */
      private int head() {
        byte[] bytes = answer.array();
        for (int i = 0; i + HEAD_END.length <= answer.position(); i++) {
          if (bytes[i] == '\r' && Arrays.equals(bytes, i, i + HEAD_END.length, HEAD_END, 0, HEAD_END.length)) {
            return i + HEAD_END.length;
          }
        }
        return -1;
      }

      private int length(int head) {
        String text = new String(answer.array(), 0, head, StandardCharsets.US_ASCII).toLowerCase(Locale.ROOT);
        int at = text.indexOf(LENGTH) + LENGTH.length();
        return Integer.parseInt(text.substring(at, text.indexOf('\r', at)).strip());
      }
    }
  }

  @Override
  public void close() {}
}
