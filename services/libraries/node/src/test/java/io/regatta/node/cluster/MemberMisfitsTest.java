package io.regatta.node.cluster;

import static io.regatta.node.cluster.TlsMembers.TOKEN;
import static io.regatta.node.cluster.TlsMembers.sizeAt;
import static io.regatta.node.cluster.TlsMembers.tls;
import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.protocol.testing.Certificates.Pem;
import io.vertx.core.http.HttpServerOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A node whose TLS or token does not fit its cluster is not let in, and says why. */
class MemberMisfitsTest extends CertifiedMembers {

  @Test
  void aNodeThatDoesNotFitSaysWhy() throws Exception {
    members.start(members.port(), tls(pem, true, true), TOKEN, dir);
    assertThatThrownBy(() -> members.start(0, null, TOKEN, dir)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("the port speaks TLS, and this process has none").hasMessageContaining("node.tls");
    assertThatThrownBy(() -> members.start(0, tls(pem, true, true), "another-token-than-that-one", dir))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("has another token")
        .hasMessageContaining("node.token_file");
    Pem other = certificates.issue("other-ca", "stranger");
    assertThatThrownBy(() -> members.start(0, tls(other, true, true), TOKEN, dir))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("is not signed by a CA of node.tls.ca here");
    Pem mixed = new Pem(other.certificate(), other.key(), pem.ca());
    assertThatThrownBy(() -> members.start(0, tls(mixed, true, true), TOKEN, dir)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("it refuses this process");
  }

  @Test
  void aNodeWithTlsRefusesASeedWithoutIt() throws Exception {
    members.start(members.port(), null, TOKEN, dir);
    assertThatThrownBy(() -> members.start(0, tls(pem, true, true), TOKEN, dir)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("does not speak TLS, and this process does");
  }

  @Test
  void aSeedsCertificateForAnotherHostIsRefused() throws Exception {
    Pem elsewhere = certificates.issueFor("elsewhere.example", "ca", "elsewhere");
    members.start(members.port(), tls(elsewhere, true, true), TOKEN, dir);
    assertThatThrownBy(() -> members.start(0, tls(pem, true, true), TOKEN, dir)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("its certificate is another host's").hasMessageContaining("node.tls.verify_host");
    Node trusting = members.start(0, tls(pem, true, false), TOKEN, dir);
    assertThat(sizeAt(trusting)).isEqualTo(2);
  }

  /** A port with TLS and the job's certificate, of another kind: what is said there is not taken for a member's. */
  @Test
  void anotherPortOfTheJobIsNotTakenForAMembers() throws Exception {
    Node node = members.start(members.port(), tls(pem, true, true), TOKEN, dir);
    int grpc = get(node.security().server(node.vertx(), new HttpServerOptions()).requestHandler(request -> { })
        .listen(0, "127.0.0.1")).actualPort();
    NodeConfig config = members.config(0, tls(pem, true, true), TOKEN, dir);
    assertThatThrownBy(() -> members.start(config.withCluster(
        ClusterConfig.of(members.cluster(), List.of("127.0.0.1:" + grpc), 0))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("cannot join cluster " + members.cluster())
        .hasMessageContaining("not as a Hazelcast member").hasMessageContaining("node.cluster.seeds");
  }
}
