package io.regatta.node.cluster;

import static io.regatta.node.testing.Nodes.get;

import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.TlsConfig;
import io.regatta.node.member.VertxMember;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LogLines;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Hazelcast members of one test with or without TLS, and connections of strangers to the first one's port. A field with
 * {@code @RegisterExtension}, of the instance and so of one test; what the test leaves is closed after it.
 */
final class TlsMembers implements BeforeEachCallback, AfterEachCallback {

  static final String TOKEN = "a-token-of-this-test-alone";
  private static final int CLOSED_WITHIN_MILLIS = MemberConnections.ADMISSION_MILLIS + 15_000;

  private final String cluster = "test-" + UUID.randomUUID();
  private final int port = FreePorts.one();
  private final List<Node> nodes = new ArrayList<>();
  private final List<AutoCloseable> open = new ArrayList<>();
  private LogLines log;

  @Override
  public void beforeEach(ExtensionContext test) {
    log = LogLines.of(MemberConnections.class.getName());
  }

  @Override
  public void afterEach(ExtensionContext test) throws Exception {
    log.close();
    for (AutoCloseable each : open) {
      each.close();
    }
    nodes.forEach(node -> get(node.close()));
  }

  String cluster() {
    return cluster;
  }

  /** Returns Hazelcast's port of the first member. */
  int port() {
    return port;
  }

  /** Returns the warnings about connections of members. */
  List<String> lines() {
    return log.lines();
  }

  static TlsConfig tls(Pem files, boolean mutual, boolean verifyHost) {
    return new TlsConfig(files.certificate().toString(), files.key().toString(), files.ca().toString(), mutual,
        verifyHost, 0);
  }

  /**
   * Returns the configuration of a member.
   *
   * @param at its Hazelcast port; 0: any
   * @param tls null: none
   * @param token empty: none
   * @param dir of the file that is made for the token
   */
  NodeConfig config(int at, TlsConfig tls, String token, Path dir) throws IOException {
    NodeConfig config = NodeConfig.defaults().withCluster(ClusterConfig.of(cluster, List.of("127.0.0.1:" + port), at));
    return config.withTls(tls == null ? config.tls() : tls).withTokenFile(token.isEmpty() ? ""
        : SecretFiles.write(dir.resolve("token-" + UUID.randomUUID()), token).toString());
  }

  Node start(NodeConfig config) {
    return add(get(Node.start(config, config.cluster().port() == port ? "rendezvous" : "parameter-server")));
  }

  Node start(int at, TlsConfig tls, String token, Path dir) throws IOException {
    return start(config(at, tls, token, dir));
  }

  /** Adds a node that is to be closed after the test. */
  Node add(Node node) {
    nodes.add(node);
    return node;
  }

  /** Ends a member before the test ends. */
  void end(Node node) {
    nodes.remove(node);
    get(node.close());
  }

  /** Returns the number of members that one of them sees. */
  static int sizeAt(Node node) {
    return VertxMember.under(node.vertx()).orElseThrow().getCluster().getMembers().size();
  }

  /** Adds something that is to be closed after the test, before its nodes. */
  <T extends AutoCloseable> T add(T closeable) {
    open.add(closeable);
    return closeable;
  }

  /** Connects to the first member's Hazelcast port. */
  Socket connect() throws IOException {
    Socket socket = add(new Socket());
    socket.connect(new InetSocketAddress("127.0.0.1", port));
    socket.setSoTimeout(CLOSED_WITHIN_MILLIS);
    return socket;
  }

  /** Waits until the other side has closed a connection. */
  static void assertClosed(Socket socket) throws IOException {
    try {
      socket.getInputStream().readAllBytes();
    } catch (SocketTimeoutException e) {
      throw new AssertionError("not closed within " + CLOSED_WITHIN_MILLIS + " ms", e);
    } catch (SocketException e) {
      // reset
    }
  }

  /**
   * Shakes hands as far as the server lets it, with whatever certificate the server has.
   *
   * @param files own certificate; null: none
   * @param application protocol that it offers (ALPN); null: none
   */
  static SSLSocket handshake(Socket plain, Pem files, String application) throws IOException {
    SSLSocket socket = (SSLSocket) Certificates.trustAll(files).getSocketFactory().createSocket(plain, "127.0.0.1",
        plain.getPort(), false);
    if (application != null) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {application});
      socket.setSSLParameters(parameters);
    }
    try {
      socket.startHandshake();
    } catch (SSLException | SocketException e) {
      // refused already
    }
    return socket;
  }
}
