package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole jobs with mutual TLS and a token on every port: they train to the same bits as without. */
class SecuredJobTest {

  @TempDir
  static Path certificates;
  private static List<String> keys;

  @TempDir
  Path dir;

  @BeforeAll
  static void make() throws Exception {
    Pem node = new Certificates(certificates).issue("ca", "node");
    Path token = SecretFiles.write(certificates.resolve("token"), "the-token-of-a-secured-job\n");
    // Over TCP: in one JVM tensors would go from hand to hand.
    keys = List.of("node.tls.certificate=" + node.certificate(), "node.tls.key=" + node.key(), "node.tls.ca=" + node.ca(),
        "node.token_file=" + token, "parameter_server.stream.transport=grpc", "gradient_aggregator.stream.transport=grpc",
        "trainer.stream.transport=grpc");
  }

  private static List<RunResult> run(JobConfig job, List<String> settings) {
    ProcessSettings place = ProcessSettings.load(null, List.of(), settings, new JsonObject());
    return LocalCluster.run(LocalCluster.Options.of(job, place).withoutHazelcast().withProgress(Progress.none()));
  }

  private static void same(JobConfig job) {
    String plain = run(job, List.of()).get(0).parametersHash();
    assertThat(run(job, keys)).hasSize(2).allMatch(r -> r.parametersHash().equals(plain));
  }

  @Test
  void with_servers_and_an_aggregator() {
    same(Jobs.wideAndDeep(dir, "mode=sync", "servers=2", "shards=2", "trainers=2", "aggregator=true", "max_steps=6", "output="));
  }

  @Test
  void collective() {
    same(Jobs.config("lenet", "trainers=2", "batch_size=16", "max_steps=4", "settings.train_images=320", "settings.test_images=40",
        "data.drop_last=true", "output="));
  }
}
