package io.regatta.node.cluster;

import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static io.regatta.node.testing.Nodes.poll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.TlsConfig;
import io.regatta.node.admin.AdminConfig;
import io.regatta.node.member.VertxMember;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Hazelcast's port of nodes with TLS: members speak to each other inside of it, and strangers are refused soon. */
class MemberTlsTest {

  private static final String TOKEN = "a-token-of-this-test-alone";
  private static final int SOON_MILLIS = MemberConnections.ADMISSION_MILLIS + 3000;
  private static final Map<String, Pem> ISSUED = new ConcurrentHashMap<>();
  private static Certificates certificates;
  private static Pem pem;
  private static Pem expired;

  @TempDir
  static Path made;
  @TempDir
  Path dir;
  private final String cluster = "test-" + UUID.randomUUID();
  private final int port = FreePorts.one();
  private final List<Node> nodes = new ArrayList<>();
  private final List<AutoCloseable> open = new ArrayList<>();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeAll
  static void certify() {
    certificates = new Certificates(made);
    pem = issued("ca", "node");
    expired = certificates.issueExpired("ca", "expired");
    issued("other-ca", "stranger");
  }

  @BeforeEach
  void listen() {
    log.start();
    logger().addAppender(log);
  }

  private static ch.qos.logback.classic.Logger logger() {
    return (ch.qos.logback.classic.Logger) LoggerFactory.getLogger(MemberConnections.class);
  }

  @AfterEach
  void close() throws Exception {
    logger().detachAppender(log);
    for (AutoCloseable each : open) {
      each.close();
    }
    nodes.forEach(node -> get(node.close()));
  }

  /** A certificate, made once. */
  private static Pem issued(String ca, String name) {
    return ISSUED.computeIfAbsent(name, n -> certificates.issue(ca, n));
  }

  private static TlsConfig tls(Pem files, boolean mutual, boolean verifyHost) {
    return new TlsConfig(files.certificate().toString(), files.key().toString(), files.ca().toString(), mutual,
        verifyHost, 0);
  }

  private NodeConfig config(int at, TlsConfig tls, String token) throws IOException {
    NodeConfig config = NodeConfig.defaults().withCluster(ClusterConfig.of(cluster, List.of("127.0.0.1:" + port), at));
    return config.withSecurity(tls == null ? config.tls() : tls, token.isEmpty() ? ""
        : SecretFiles.write(dir.resolve("token-" + UUID.randomUUID()), token).toString());
  }

  private Node start(NodeConfig config) {
    Node node = get(Node.start(config, config.cluster().port() == port ? "rendezvous" : "parameter-server"));
    nodes.add(node);
    return node;
  }

  private Node start(int at, TlsConfig tls, String token) throws IOException {
    return start(config(at, tls, token));
  }

  private static int members(Node node) {
    return VertxMember.under(node.vertx()).orElseThrow().getCluster().getMembers().size();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", TOKEN})
  void membersShareTheDirectoryInsideMutualTls(String token) throws IOException {
    Node first = start(port, tls(pem, true, true), token);
    Node second = start(0, tls(pem, true, true), token);
    Node third = start(0, tls(issued("ca", "third"), true, true), token);
    assertThat(members(third)).isEqualTo(3);
    get(second.directory().register(instance("parameter-server", "second", 0, 1)));
    get(third.directory().register(instance("parameter-server", "third", 1, 2)));
    nodes.forEach(node -> poll(node, "parameter-server", 2));
    assertThat(members(first)).isEqualTo(3);
    assertThat(log.list).isEmpty();
  }

  /** A relay that keeps what passes, between a member under its published address and those that call it. */
  private final class Relay implements AutoCloseable {
    private final ServerSocket listening = new ServerSocket();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

    private Relay(String address, int port) throws IOException {
      listening.bind(new InetSocketAddress(InetAddress.getByName(address), port));
      daemon(() -> {
        while (true) {
          Socket from = listening.accept();
          Socket to = new Socket(InetAddress.getByName("127.0.0.1"), port);
          sockets.addAll(List.of(from, to));
          daemon(() -> copy(from, to));
          daemon(() -> copy(to, from));
        }
      });
      open.add(this);
    }

    private interface Work {
      void run() throws IOException;
    }

    private static void daemon(Work work) {
      Thread thread = new Thread(() -> {
        try {
          work.run();
        } catch (IOException e) {
          // it has been closed
        }
      });
      thread.setDaemon(true);
      thread.start();
    }

    private void copy(Socket from, Socket to) throws IOException {
      byte[] bytes = new byte[1 << 16];
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        synchronized (seen) {
          seen.write(bytes, 0, read);
        }
        out.write(bytes, 0, read);
      }
      to.shutdownOutput();
    }

    private String seen() {
      synchronized (seen) {
        return seen.toString(StandardCharsets.ISO_8859_1);
      }
    }

    @Override
    public void close() throws IOException {
      listening.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  private static NodeConfig published(NodeConfig config, String host) {
    ClusterConfig c = config.cluster();
    return config.withCluster(new ClusterConfig(c.name(), c.directory(),
        List.of("127.0.0.2:" + c.seedMembers().get(0).port()), c.port(), "127.0.0.1", c.member(), c.memberProof(), host,
        c.leaseSeconds(), c.heartbeatSeconds(), c.silenceSeconds(), c.endpoints()));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoIsOnTheWayReadsNothingInsideTls(boolean secured) throws IOException {
    Relay relay = new Relay("127.0.0.2", port);
    TlsConfig tls = secured ? tls(pem, true, false) : null;
    Node first = start(published(config(port, tls, TOKEN), "127.0.0.2"));
    Node second = start(published(config(0, tls, TOKEN), ""));
    get(second.directory().register(instance("parameter-server", "a-server-of-this-test", 0, 1)));
    poll(first, "parameter-server", 1);
    poll(second, "parameter-server", 1);
    String seen = relay.seen();
    assertThat(seen.length()).isGreaterThan(2000);
    assertThat(seen.contains("a-server-of-this-test")).as("this relay would see it").isEqualTo(!secured);
    assertThat(seen.contains(Token.of(TOKEN, "here").id())).isEqualTo(!secured);
    assertThat(seen.contains(cluster)).isEqualTo(!secured);
    assertThat(seen.contains("HZC")).isEqualTo(!secured);
    assertThat(seen).doesNotContain(TOKEN);
  }

  /** What a stranger does with a connection; each leaves it open for the other side to close. */
  private enum Stranger {
    SILENT("has not shown within 5 s"),
    HALF_A_HANDSHAKE("has not shown within 5 s") {
      @Override
      void speak(Socket socket) throws Exception {
        socket.getOutputStream().write(new byte[] {22, 3, 1, 1, 0, 1, 0, 0, (byte) 0xfc, 3, 3});
      }
    },
    RUBBISH_IN_TLS("refused a connection") {
      @Override
      void speak(Socket socket) throws Exception {
        socket.getOutputStream().write(new byte[] {22, 3, 3, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8});
      }
    },
    PLAIN_HAZELCAST("does not speak TLS") {
      @Override
      void speak(Socket socket) throws Exception {
        socket.getOutputStream().write("HZC".getBytes(StandardCharsets.US_ASCII));
      }
    },
    PLAIN_HTTP("does not speak TLS") {
      @Override
      void speak(Socket socket) throws Exception {
        socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      }
    },
    NO_CERTIFICATE("refused a connection") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, null, SecureChannel.APPLICATION);
      }
    },
    ANOTHER_CA("refused a connection") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, issued("other-ca", "stranger"), SecureChannel.APPLICATION);
      }
    },
    EXPIRED("refused a connection") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, expired, SecureChannel.APPLICATION);
      }
    },
    ANOTHER_PROTOCOL_IN_TLS("refused a connection") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, pem, "h2");
      }
    },
    NO_PROTOCOL_IN_TLS("not as a Hazelcast member of Regatta") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, pem, null);
      }
    },
    NO_TOKEN("does not prove the token") {
      @Override
      void speak(Socket socket) throws Exception {
        SSLSocket tls = handshake(socket, pem, SecureChannel.APPLICATION);
        tls.getOutputStream().write("HZC".getBytes(StandardCharsets.US_ASCII));
      }
    },
    SILENT_IN_TLS("has not shown within 5 s") {
      @Override
      void speak(Socket socket) throws Exception {
        handshake(socket, pem, SecureChannel.APPLICATION);
      }
    };

    private final String line;

    Stranger(String line) {
      this.line = line;
    }

    void speak(Socket socket) throws Exception {}
  }

  /** Shakes hands as far as the server lets it, with whatever certificate the server has. */
  private static SSLSocket handshake(Socket plain, Pem files, String application) throws Exception {
    KeyManager[] keys = files == null ? null : new PemKeyCertOptions().addCertValue(buffer(files.certificate()))
        .addKeyValue(buffer(files.key())).getKeyManagerFactory(null).getKeyManagers();
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys, new TrustManager[] {new Credulous()}, null);
    SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, "127.0.0.1", plain.getPort(), false);
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

  private static io.vertx.core.buffer.Buffer buffer(Path file) throws IOException {
    return io.vertx.core.buffer.Buffer.buffer(Files.readAllBytes(file));
  }

  private static final class Credulous implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket();
    socket.connect(new InetSocketAddress("127.0.0.1", port));
    socket.setSoTimeout(SOON_MILLIS);
    open.add(socket);
    return socket;
  }

  private static void assertClosed(Socket socket) throws IOException {
    try {
      socket.getInputStream().readAllBytes();
    } catch (SocketTimeoutException e) {
      throw new AssertionError("not closed within " + SOON_MILLIS + " ms", e);
    } catch (SocketException e) {
      // reset
    }
  }

  private List<String> lines() {
    return List.copyOf(log.list).stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @ParameterizedTest
  @EnumSource
  void aStrangerIsRefusedSoonAndNamedOnce(Stranger stranger) throws Exception {
    Node node = start(port, tls(pem, true, true), TOKEN);
    Socket first = connect();
    Socket second = connect();
    stranger.speak(first);
    stranger.speak(second);
    assertClosed(first);
    assertClosed(second);
    assertThat(lines()).hasSize(1).first().asString().contains(stranger.line);
    assertThat(members(node)).isEqualTo(1);
  }

  @Test
  void aNodeThatDoesNotFitSaysWhy() throws Exception {
    start(port, tls(pem, true, true), TOKEN);
    assertThatThrownBy(() -> start(0, null, TOKEN)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("the port speaks TLS, and this process has none").hasMessageContaining("node.tls");
    assertThatThrownBy(() -> start(0, tls(pem, true, true), "another-token-than-that-one"))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("has another token")
        .hasMessageContaining("node.token_file");
    assertThatThrownBy(() -> start(0, tls(issued("other-ca", "stranger"), true, true), TOKEN))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("is not signed by a CA of node.tls.ca here");
    Pem other = issued("other-ca", "stranger");
    Pem mixed = new Pem(other.certificate(), other.key(), pem.ca());
    assertThatThrownBy(() -> start(0, tls(mixed, true, true), TOKEN)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("it refuses this process");
  }

  @Test
  void aNodeWithTlsRefusesASeedWithoutIt() throws Exception {
    start(port, null, TOKEN);
    assertThatThrownBy(() -> start(0, tls(pem, true, true), TOKEN)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("does not speak TLS, and this process does");
  }

  @Test
  void aSeedsCertificateForAnotherHostIsRefused() throws Exception {
    Pem elsewhere = certificates.issueFor("elsewhere.example", "ca", "elsewhere");
    start(port, tls(elsewhere, true, true), TOKEN);
    assertThatThrownBy(() -> start(0, tls(pem, true, true), TOKEN)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("its certificate is another host's").hasMessageContaining("node.tls.verify_host");
    Node trusting = start(0, tls(pem, true, false), TOKEN);
    assertThat(members(trusting)).isEqualTo(2);
  }

  /** Without mutual TLS, who opens no port of its own needs no certificate; it connects to all others then. */
  @Test
  void aProcessWithoutACertificateJoinsWhereTlsIsNotMutual() throws Exception {
    Node first = start(port, tls(pem, false, true), TOKEN);
    Node second = start(0, tls(pem, false, true), TOKEN);
    TlsConfig authority = new TlsConfig("", "", pem.ca().toString(), false, true, 0);
    NodeConfig asking = new NodeConfig(config(0, authority, TOKEN).cluster(), new AdminConfig(false, 0, "", 2000), "",
        60, 60, 0, false);
    Node client = get(Node.start(asking.withSecurity(authority, config(0, authority, TOKEN).tokenFile()), "client"));
    nodes.add(client);
    get(second.directory().register(instance("parameter-server", "second", 0, 1)));
    poll(client, "parameter-server", 1);
    assertThat(members(first)).isEqualTo(3);
  }

  /** A port with TLS and the job's certificate, of another kind: what is said there is not taken for a member's. */
  @Test
  void anotherPortOfTheJobIsNotTakenForAMembers() throws Exception {
    Node node = start(port, tls(pem, true, true), TOKEN);
    int grpc = get(node.security().server(node.vertx(), new HttpServerOptions()).requestHandler(request -> { })
        .listen(0, "127.0.0.1")).actualPort();
    NodeConfig config = config(0, tls(pem, true, true), TOKEN);
    assertThatThrownBy(() -> start(config.withCluster(ClusterConfig.of(cluster, List.of("127.0.0.1:" + grpc), 0))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("cannot join cluster " + cluster)
        .hasMessageContaining("not as a Hazelcast member").hasMessageContaining("node.cluster.seeds");
  }

  @Test
  void aMemberWithARenewedCertificateJoinsAgain() throws Exception {
    Pem own = copy(issued("ca", "before"));
    Node first = start(port, new TlsConfig(own.certificate().toString(), own.key().toString(), own.ca().toString(),
        true, true, 200), TOKEN);
    Node second = start(0, tls(pem, true, true), TOKEN);
    assertThat(members(first)).isEqualTo(2);
    assertThat(shown()).contains("CN=before");
    Object version = first.security().version();
    Pem renewed = issued("ca", "after");
    Files.copy(renewed.key(), own.key(), StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
    Files.copy(renewed.certificate(), own.certificate(), StandardCopyOption.REPLACE_EXISTING);
    awaitTrue(first, () -> first.security().version() != version);
    assertThat(shown()).contains("CN=after");
    assertThat(members(first)).as("connections that are there go on").isEqualTo(2);
    nodes.remove(second);
    get(second.close());
    start(0, tls(issued("ca", "third"), true, true), TOKEN);
    awaitTrue(first, () -> members(first) == 2);
  }

  private Pem copy(Pem from) throws IOException {
    Path certificate = Files.copy(from.certificate(), dir.resolve("own.crt"));
    Path key = Files.copy(from.key(), dir.resolve("own.key"), StandardCopyOption.COPY_ATTRIBUTES);
    return new Pem(certificate, key, from.ca());
  }

  /** The name in the certificate that Hazelcast's port shows. */
  private String shown() throws Exception {
    SSLSocket socket = handshake(connect(), pem, SecureChannel.APPLICATION);
    return socket.getSession().getPeerCertificates()[0].toString();
  }

  private interface Condition {
    boolean holds();
  }

  private static void awaitTrue(Node node, Condition condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as("within 60 s").isLessThan(deadline);
      get(node.vertx().timer(20, TimeUnit.MILLISECONDS).mapEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void silentStrangersDelayNobody(boolean secured) throws Exception {
    TlsConfig tls = secured ? tls(pem, true, true) : null;
    Node first = start(port, tls, TOKEN);
    long alone = join(first, tls);
    for (int i = 0; i < 500; i++) {
      connect();
    }
    long crowded = join(first, tls);
    System.out.println("join " + (secured ? "with" : "without") + " TLS: alone " + alone + " ms, beside 500 silent "
        + "connections " + crowded + " ms");
    assertThat(crowded).isLessThan(10_000);
  }

  private long join(Node first, TlsConfig tls) throws IOException {
    long begin = System.nanoTime();
    Node node = start(0, tls, TOKEN);
    assertThat(members(first)).isEqualTo(2);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    nodes.remove(node);
    get(node.close());
    awaitTrue(first, () -> members(first) == 1);
    return millis;
  }
}
