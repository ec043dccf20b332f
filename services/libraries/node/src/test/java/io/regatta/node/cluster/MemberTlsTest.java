package io.regatta.node.cluster;

import static io.regatta.node.cluster.TlsMembers.TOKEN;
import static io.regatta.node.cluster.TlsMembers.handshake;
import static io.regatta.node.cluster.TlsMembers.sizeAt;
import static io.regatta.node.cluster.TlsMembers.tls;
import static io.regatta.node.testing.Conditions.awaitTrue;
import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static io.regatta.node.testing.Nodes.poll;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.TlsConfig;
import io.regatta.node.admin.AdminConfig;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.testing.Certificates.Pem;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hazelcast members of one cluster speak to each other within TLS, as their certificates change. */
class MemberTlsTest extends CertifiedMembers {

  @ParameterizedTest
  @ValueSource(strings = {"", TOKEN})
  void membersShareTheDirectoryInsideMutualTls(String token) throws IOException {
    Node first = members.start(members.port(), tls(pem, true, true), token, dir);
    Node second = members.start(0, tls(pem, true, true), token, dir);
    Node third = members.start(0, tls(certificates.issue("ca", "third"), true, true), token, dir);
    assertThat(sizeAt(third)).isEqualTo(3);
    get(second.directory().register(instance("parameter-server", "second", 0, 1)));
    get(third.directory().register(instance("parameter-server", "third", 1, 2)));
    List.of(first, second, third).forEach(node -> poll(node, "parameter-server", 2));
    assertThat(sizeAt(first)).isEqualTo(3);
    assertThat(members.lines()).isEmpty();
  }

  /** It asks the seed's port before, to say what does not fit. */
  @Test
  void aSeedTakesNoMemberWithItsTokenForAStranger() throws IOException {
    members.start(members.port(), null, TOKEN, dir);
    members.start(0, null, TOKEN, dir);
    assertThat(members.lines()).isEmpty();
  }

  /** A relay that keeps what passes, between a member under its published address and those that call it. */
  private static final class Relay implements AutoCloseable {
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
    return config.withCluster(c.with(b -> b
        .seeds(List.of("127.0.0.2:" + c.seedMembers().get(0).port())).address("127.0.0.1").publishedHost(host)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoIsOnTheWayReadsNothingInsideTls(boolean secured) throws IOException {
    Relay relay = members.add(new Relay("127.0.0.2", members.port()));
    TlsConfig tls = secured ? tls(pem, true, false) : null;
    Node first = members.start(published(members.config(members.port(), tls, TOKEN, dir), "127.0.0.2"));
    Node second = members.start(published(members.config(0, tls, TOKEN, dir), ""));
    get(second.directory().register(instance("parameter-server", "a-server-of-this-test", 0, 1)));
    poll(first, "parameter-server", 1);
    poll(second, "parameter-server", 1);
    String seen = relay.seen();
    assertThat(seen.length()).isGreaterThan(2000);
    assertThat(seen.contains("a-server-of-this-test")).as("this relay would see it").isEqualTo(!secured);
    assertThat(seen.contains(Token.of(TOKEN, "here").id())).isEqualTo(!secured);
    assertThat(seen.contains(members.cluster())).isEqualTo(!secured);
    if (!secured) { // three bytes stand somewhere in many kB of ciphertext by chance
      assertThat(seen).contains("HZC");
    }
    assertThat(seen).doesNotContain(TOKEN);
  }

  /** Without mutual TLS a process that opens no port needs no certificate; it connects to all others then. */
  @Test
  void aProcessWithoutACertificateJoinsWhereTlsIsNotMutual() throws Exception {
    Node first = members.start(members.port(), tls(pem, false, true), TOKEN, dir);
    Node second = members.start(0, tls(pem, false, true), TOKEN, dir);
    TlsConfig authority = new TlsConfig("", "", pem.ca().toString(), false, true, 0);
    NodeConfig config = members.config(0, authority, TOKEN, dir);
    NodeConfig asking = NodeConfig.defaults().with(c -> c.cluster(config.cluster())
        .admin(new AdminConfig(false, 0, "", 2000)).readyTimeoutSeconds(60).tls(authority).tokenFile(config.tokenFile()));
    Node client = members.add(get(Node.start(asking, "client")));
    get(second.directory().register(instance("parameter-server", "second", 0, 1)));
    poll(client, "parameter-server", 1);
    assertThat(sizeAt(first)).isEqualTo(3);
  }

  @Test
  void aMemberWithARenewedCertificateJoinsAgain() throws Exception {
    Pem own = copy(certificates.issue("ca", "before"));
    TlsConfig watched = new TlsConfig(own.certificate().toString(), own.key().toString(), own.ca().toString(), true,
        true, 200);
    Node first = members.start(members.port(), watched, TOKEN, dir);
    Node second = members.start(0, tls(pem, true, true), TOKEN, dir);
    assertThat(sizeAt(first)).isEqualTo(2);
    assertThat(shown()).contains("CN=before");
    Object version = first.security().version();
    Pem renewed = certificates.issue("ca", "after");
    Files.copy(renewed.key(), own.key(), StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
    Files.copy(renewed.certificate(), own.certificate(), StandardCopyOption.REPLACE_EXISTING);
    awaitTrue(() -> first.security().version() != version);
    assertThat(shown()).contains("CN=after");
    assertThat(sizeAt(first)).as("connections that are there go on").isEqualTo(2);
    members.end(second);
    members.start(0, tls(certificates.issue("ca", "third"), true, true), TOKEN, dir);
    awaitTrue(() -> sizeAt(first) == 2);
  }

  private Pem copy(Pem from) throws IOException {
    Path certificate = Files.copy(from.certificate(), dir.resolve("own.crt"));
    Path key = Files.copy(from.key(), dir.resolve("own.key"), StandardCopyOption.COPY_ATTRIBUTES);
    return new Pem(certificate, key, from.ca());
  }

  /** The name in the certificate that Hazelcast's members.port() shows. */
  private String shown() throws Exception {
    SSLSocket socket = handshake(members.connect(), pem, SecureChannel.APPLICATION);
    return socket.getSession().getPeerCertificates()[0].toString();
  }
}
