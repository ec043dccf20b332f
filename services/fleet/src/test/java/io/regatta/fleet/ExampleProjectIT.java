package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/example-project as a user would have it: outside the reactor, on the artifacts that {@code install} publishes.
 * Those are laid out in a local repository of the test's own, in front of the build's; so nothing is installed on this
 * machine, and nothing is downloaded that the build has not used.
 */
class ExampleProjectIT {

  private static final String VERSION = System.getProperty("regatta.version", "0.1.0-SNAPSHOT");
  private static final Pattern MODULE = Pattern.compile("<module>(.+)</module>");

  @TempDir
  static Path dir;
  private static Path project;

  @BeforeAll
  static void build() throws Exception {
    Path repository = Files.createDirectory(dir.resolve("repository"));
    publish(repository, "regatta-parent", Checkout.file("pom.xml"), null);
    publish(repository, "regatta-bom", Checkout.file("services/bom/pom.xml"), null);
    List<String> modules = MODULE.matcher(Files.readString(Checkout.file("pom.xml"))).results().map(m -> m.group(1))
        .filter(module -> !module.equals("services/bom") && !module.equals("load-tests")).toList();
    assertThat(modules).contains("services/core", "services/fleet");
    for (String module : modules) {
      Path home = Checkout.file(module);
      String artifact = home.getFileName().toString();
      publish(repository, artifact, home.resolve("pom.xml"), home.resolve("target/" + artifact + "-" + VERSION + ".jar"));
    }
    project = copy(Checkout.file("docs/example-project"), dir.resolve("house-prices"));
    String local = System.getProperty("regatta.local.repository", System.getProperty("user.home") + "/.m2/repository");
    try (JavaProcess maven = JavaProcess.start("mvnw", project, List.of(Checkout.file("mvnw").toString(), "-B", "-q",
        "-ntp", "-Dmaven.repo.local=" + repository, "-Dmaven.repo.local.tail=" + local,
        "-Dmaven.repo.local.tail.ignoreAvailability=true", "package"))) {
      assertThat(maven.status(JavaProcess.SECONDS)).as(maven.output()).isZero();
    }
  }

  private static void publish(Path repository, String artifact, Path pom, Path jar) throws IOException {
    Path home = Files.createDirectories(repository.resolve("io/regatta/" + artifact + "/" + VERSION));
    Files.copy(pom, home.resolve(artifact + "-" + VERSION + ".pom"));
    if (jar != null) {
      Files.copy(jar, home.resolve(jar.getFileName()));
    }
  }

  private static Path copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(f -> !f.startsWith(from.resolve("target"))).toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    return to;
  }

  @Test
  void is_simulated_by_the_command_line_from_its_jar() throws Exception {
    Path result = dir.resolve("result.json");
    try (JavaProcess simulation = JavaProcess.jar("simulation", Checkout.file("services/fleet/target/fleet.jar"),
        "simulate", project.resolve("job.yaml").toString(), "--result", result.toString(),
        "--set", "program_jar=" + project.resolve("target/house-prices.jar"))) {
      assertThat(simulation.status(JavaProcess.SECONDS)).as(simulation.output()).isZero();
    }
    assertTrained(result, 2);
  }

  @Test
  void runs_as_its_own_command_line() throws Exception {
    Path result = dir.resolve("alone.json");
    List<String> command = JavaProcess.java("-cp",
        project.resolve("target/house-prices.jar") + ":" + Checkout.file("services/fleet/target/fleet.jar"),
        "org.example.HousePrices", "train", project.resolve("job.yaml").toString(), "--local",
        "--set", "program_jar=", "--result", result.toString());
    try (JavaProcess alone = JavaProcess.start("alone", Checkout.root(), command)) {
      assertThat(alone.status(JavaProcess.SECONDS)).as(alone.output()).isZero();
      assertThat(alone.output()).doesNotContain("DEBUG", "modular environment");
    }
    assertTrained(result, 1);
  }

  /** The prices are linear but for noise of deviation 0.01; DJL's l2 loss is half the mean square. */
  private static void assertTrained(Path result, int trainers) throws IOException {
    JsonNode json = new ObjectMapper().readTree(result.toFile());
    assertThat(json.get("trainers").asInt()).isEqualTo(trainers);
    assertThat(json.get("loss").asDouble()).isPositive().isLessThan(0.001);
  }
}
