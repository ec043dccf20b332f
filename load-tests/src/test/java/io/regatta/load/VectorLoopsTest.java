package io.regatta.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * The program of decision 0011, which the build does not compile, still runs; it compares the bits itself. Of JDK 17 and 18: the
 * build leaves it out on newer ones (load-tests/pom.xml).
 */
class VectorLoopsTest {

  @Test
  void it_prints_its_table() throws Exception {
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "--add-modules", "jdk.incubator.vector", "-cp", System.getProperty("java.class.path"),
        "src/vector/VectorLoops.java", "1").redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said).contains("| sgd |", "| adagrad |", "| adam |", "| the copy alone |", "| search for NaN");
  }
}
