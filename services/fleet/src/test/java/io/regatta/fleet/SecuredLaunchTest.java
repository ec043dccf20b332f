package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
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

  private static List<Path> tokens(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.getFileName().toString().startsWith(".token")).toList();
    }
  }

  @Test
  void a_launch_makes_a_token_for_its_job_which_is_for_its_user_alone_and_goes_with_it() throws Exception {
    try (JavaProcess launch = JavaProcess.regatta(dir, Map.of(), "launch", "--server_num=1", "--worker_num=1",
        job("epochs: 1000000\n"))) {
      launch.await(line -> line.contains("dense values in"), SECONDS);
      Path file = assertThat(tokens(dir.resolve("log"))).singleElement().actual();
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("r--------");
      String token = Files.readString(file).strip();
      assertThat(token).matches("[0-9a-f]{64}");
      List<ProcessHandle> children = ProcessHandle.of(launch.pid()).orElseThrow().descendants().toList();
      assertThat(children).hasSizeGreaterThanOrEqualTo(2);
      for (ProcessHandle child : children) {
        for (String seen : new String[] {"cmdline", "environ"}) {
          assertThat(Files.readString(Path.of("/proc", Long.toString(child.pid()), seen))).doesNotContain(token);
        }
      }
      launch.signal("INT");
      assertThat(launch.status(SECONDS)).as(launch.output()).isEqualTo(130);
      assertThat(tokens(dir.resolve("log"))).isEmpty();
      for (String name : new String[] {"serverlog.0", "workerlog.0"}) {
        assertThat(Files.readString(dir.resolve("log").resolve(name))).contains("is called with no TLS, a token")
            .doesNotContain(token);
      }
      assertThat(launch.output()).doesNotContain(token);
    }
  }

  /**
   * Servers, streams and control calls at an address of this machine that is none of loopback: nobody sends the token.
   */
  @Test
  void beyond_loopback_a_launched_job_proves_its_token_and_does_not_send_it() throws Exception {
    String host = NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
        .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress()
            && !address.isLinkLocalAddress())
        .map(InetAddress::getHostAddress).findFirst().orElse("");
    Assumptions.assumeFalse(host.isEmpty(), "this machine has loopback only");
    try (JavaProcess launch = JavaProcess.regatta(dir, Map.of(), "launch", "--server_num=1", "--worker_num=2",
        "--host", host,
        job("mode: sync\n"), "--set", "trainer.stream.transport=grpc", "--set",
        "parameter_server.stream.transport=grpc")) {
      assertThat(launch.status(SECONDS)).as(launch.output()).isZero();
      assertThat(Files.readString(dir.resolve("log/serverlog.0"))).contains("Server listening on " + host,
          "is called with no TLS, a token")
          .doesNotContain("has sent the job's token", "refused a call");
    }
  }

  /** The command is given on each machine: what one launcher made, the other would not know. */
  @Test
  void a_part_of_a_job_has_no_token_of_its_own_and_is_refused_beyond_loopback() throws Exception {
    CommandLineRun launch = CommandLineRun.regatta("launch", "--servers", "0.0.0.0:" + FreePorts.one(), "--workers",
        "0.0.0.0,10.9.9.9",
        "--host", "0.0.0.0", "--log_dir", dir.resolve("none").toString(), job(""));
    assertThat(launch.failure()).contains("parameter-server would listen on 0.0.0.0", "node.token_file",
        "node.security.open: true");
    assertThat(dir.resolve("none")).doesNotExist();
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
