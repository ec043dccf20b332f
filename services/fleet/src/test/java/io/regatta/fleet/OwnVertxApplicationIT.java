package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.protocol.testing.SecretFiles;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The project of docs/own-vertx-application.md as a user would have it: an application built outside the reactor, with
 * stock Hazelcast settings. A trainer knows its cluster's name and the address of a member.
 */
class OwnVertxApplicationIT {

  private static final Pattern READY = Pattern.compile("ready member=(\\S+) http=(\\d+)");

  @TempDir
  Path dir;

  @Test
  void a_trainer_uses_the_services_of_somebody_elses_application() throws Exception {
    Path project = LocalRepository.in(dir.resolve("repository"))
        .build("docs/own-vertx-application", dir.resolve("project"));
    Path jar = project.resolve("target/own-vertx.jar");
    try (JarFile content = new JarFile(jar.toFile())) {
      assertThat(content.stream().map(entry -> entry.getName())).as("libraries bring no logging framework")
          .contains("org/slf4j/Logger.class").noneMatch(name -> name.startsWith("ch/qos/logback/"));
    }
    String name = "theirs-" + UUID.randomUUID();
    String job = Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\n"
        + "trainers: 1\nservers: 1\nbatch_size: 8\ncompute_threads: 1\n").toString();
    Path result = dir.resolve("result.json");
    Path token = SecretFiles.write(dir.resolve("token"), "the-token-of-the-application");
    try (JavaProcess application = JavaProcess.jar("application", jar, name, token.toString())) {
      Matcher ready = READY.matcher(application.await(line -> line.startsWith("ready member="),
          JavaProcess.SECONDS));
      assertThat(ready.matches()).isTrue();
      try (JavaProcess trainer = JavaProcess.regatta(dir, Map.of(), "run", job, "--role", "trainer", "--seeds",
          ready.group(1), "--set", "node.cluster.name=" + name, "--set", "node.token_file=" + token, "--set",
          "node.cluster.member_proof=false", "--result", result.toString())) {
        assertThat(trainer.status(JavaProcess.SECONDS)).as(trainer.output() + application.output()).isZero();
      }
      HttpResponse<String> own = HttpClient.newHttpClient().send(HttpRequest.newBuilder(
          URI.create("http://localhost:" + ready.group(2) + "/")).build(), HttpResponse.BodyHandlers.ofString());
      assertThat(own.body()).isEqualTo("my application\n");
    }
    assertThat(new JsonObject(Files.readString(result)).getInteger("trainers")).isEqualTo(1);
  }
}
