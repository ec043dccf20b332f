package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The project docs/example-project as a user would have it: outside the reactor, from a {@link LocalRepository}. */
class ExampleProjectIT {

  @TempDir
  static Path dir;
  private static Path project;

  @BeforeAll
  static void build() throws Exception {
    project = LocalRepository.in(dir.resolve("repository")).build("docs/example-project", dir.resolve("house-prices"));
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
      assertThat(alone.output()).doesNotContain(" DEBUG ", "modular environment");
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
