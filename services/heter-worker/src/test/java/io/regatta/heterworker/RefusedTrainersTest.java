package io.regatta.heterworker;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.TrainerId;
import io.regatta.heterworker.RunningWorkers.Trainer;
import io.regatta.node.NodeConfig;
import io.regatta.node.TlsConfig;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The port of a heter worker with mutual TLS and a token: a trainer that lacks one of the two is refused. */
class RefusedTrainersTest {

  private static final TrainerId ZERO = new TrainerId(0, 1);
  private static final Token TOKEN = Token.of("the-token-of-this-job", "a test");

  @TempDir
  static Path dir;
  private static Pem own;
  private static Pem others;
  private static RunningWorkers workers;
  private static PartStandIn part;
  private static HeterWorkerVerticle worker;

  @BeforeAll
  static void start() throws Exception {
    Certificates certificates = new Certificates(dir);
    own = certificates.issue("ca", "node");
    others = certificates.issue("ca of others", "trainer of others");
    workers = new RunningWorkers(Transport.GRPC, 60_000, NodeConfig.defaults().withTls(new TlsConfig(own.certificate().toString(),
        own.key().toString(), own.ca().toString(), true, true, 0))
        .withTokenFile(SecretFiles.write(dir.resolve("token"), "the-token-of-this-job").toString()));
    part = new PartStandIn(10, null);
    worker = workers.started(part);
  }

  @AfterAll
  static void stop() {
    workers.close();
  }

  /** Opens a cut on a stream with these means. Fails where the port refuses them. */
  private static Trainer opened(PeerSecurity security) {
    Trainer trainer = workers.trainer(worker, ZERO, security);
    get(trainer.open(RunningWorkers.cut().build()));
    return trainer;
  }

  @Test
  void computesForATrainerWithCertificateAndToken() {
    assertThat(TestBatches.output(get(opened(PeerSecurity.of(own.files(), TOKEN)).compute(1, 4)))).isEqualTo(2);
  }

  @Test
  void refusesATrainerWithoutTheToken() {
    assertThatThrownBy(() -> opened(PeerSecurity.of(own.files(), Token.NONE))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("refuses a call without the job's token");
  }

  @Test
  void refusesATrainerWithAnotherToken() {
    assertThatThrownBy(() -> opened(PeerSecurity.of(own.files(), Token.of("the-token-of-another-job", "a test"))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("token");
  }

  @Test
  void refusesATrainerWithoutTls() {
    assertThatThrownBy(() -> opened(PeerSecurity.of(null, TOKEN))).isInstanceOf(RegattaException.class)
        .hasMessageContaining("node.tls");
  }

  /** It trusts the heter worker's CA, but its own certificate is another CA's. */
  @Test
  void refusesATrainerWithACertificateOfAnotherCa() {
    assertThatThrownBy(() -> opened(PeerSecurity.of(new Pem(others.certificate(), others.key(), own.ca()).files(), TOKEN)))
        .isInstanceOf(RegattaException.class).hasMessageContaining("node.tls");
  }
}
