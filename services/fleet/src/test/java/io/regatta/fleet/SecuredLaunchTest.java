package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code regatta launch} with mutual TLS and a token: what it starts has them from the environment, and nobody shows the token. */
class SecuredLaunchTest {

  private static final int SECONDS = JavaProcess.SECONDS;
  private static final String TOKEN = "the-token-that-is-in-no-log";

  @TempDir
  Path dir;

  @Test
  void the_processes_of_a_job_have_certificates_and_token_from_the_environment() throws Exception {
    Pem pem = new Certificates(dir).issue("ca", "node");
    String job = job("");
    Map<String, String> environment = Map.of("REGATTA_NODE_TLS_CERTIFICATE", pem.certificate().toString(), "REGATTA_NODE_TLS_KEY",
        pem.key().toString(), "REGATTA_NODE_TLS_CA", pem.ca().toString(), "REGATTA_NODE_TOKEN", TOKEN);
    try (JavaProcess launch = JavaProcess.regatta(dir, environment, "launch", "--server_num=1", "--worker_num=1", job)) {
      assertThat(launch.status(SECONDS)).as(launch.output()).isZero();
      assertThat(launch.output()).doesNotContain(TOKEN);
      for (String name : new String[] {"serverlog.0", "workerlog.0"}) {
        assertThat(Files.readString(dir.resolve("log").resolve(name))).contains("mutual TLS, certificate of CN=node", "a token")
            .doesNotContain(TOKEN);
      }
    }
  }

  /** The rendezvous that the launcher starts, too. */
  @Test
  void the_processes_of_a_job_have_certificates_and_token_from_its_arguments() throws Exception {
    Pem pem = new Certificates(dir).issue("ca", "node");
    Path token = SecretFiles.write(dir.resolve("token"), TOKEN);
    String conf = Files.writeString(dir.resolve("node.yaml"), "node:\n  token_file: " + token + "\n").toString();
    try (JavaProcess launch = JavaProcess.regatta(dir, Map.of(), "launch", "--master", "127.0.0.1:" + FreePorts.one(),
        "--nproc_per_node=1", job("mode: collective\n"), "-conf", conf, "--set", "node.tls.certificate=" + pem.certificate(), "--set",
        "node.tls.key=" + pem.key(), "--set", "node.tls.ca=" + pem.ca())) {
      assertThat(launch.status(SECONDS)).as(launch.output()).isZero();
      assertThat(Files.readString(dir.resolve("log/masterlog.0"))).contains("mutual TLS, certificate of CN=node", "a token");
    }
  }

  @Test
  void a_token_on_the_command_line_is_passed_to_nobody() throws Exception {
    for (String setting : new String[] {"node.token=" + TOKEN, "node={\"token\":\"" + TOKEN + "\"}"}) {
      CommandLineRun launch = CommandLineRun.regatta("launch", "--master", "127.0.0.1:" + FreePorts.one(), "--nproc_per_node=1", "--log_dir",
          dir.resolve("none").toString(), job(""), "--set", setting);
      assertThat(launch.failure()).contains("key 'node.token'", "is a secret").doesNotContain(TOKEN);
      assertThat(launch.out()).doesNotContain(TOKEN);
      assertThat(dir.resolve("none")).doesNotExist();
    }
  }

  private String job(String more) throws IOException {
    return Files.writeString(dir.resolve("job.yaml"),
        "job: line\nprogram: io.regatta.fleet.LineProgram\nbatch_size: 8\ncompute_threads: 1\n" + more).toString();
  }
}
