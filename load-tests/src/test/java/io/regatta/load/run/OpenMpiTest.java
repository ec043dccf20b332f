package io.regatta.load.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class OpenMpiTest {

  /** Where OpenMPI is not installed there is nothing to run, and the driver says so. */
  @Test
  void sends_whole_buffers_for_the_time_asked_for_where_it_is_installed() throws Exception {
    Optional<OpenMpi> found = OpenMpi.find();
    assertThat(found.isPresent())
        .isEqualTo(Programs.inPath("mpirun").isPresent() && Programs.inPath("mpicc").isPresent());
    if (found.isPresent()) {
      try (OpenMpi openMpi = found.get()) {
        Sample sample = openMpi.run(0.05, 1_000_000);
        assertThat(sample.seconds()).isBetween(0.05, 60.0);
        assertThat(sample.units() * 1000 % 1).as("whole buffers of 1 MB").isLessThan(1e-6);
        assertThat(sample.units()).isPositive();
        assertThat(sample.clientCpu()).isPositive();
      }
    }
  }

  @Test
  void a_program_that_is_not_there_has_no_version() {
    assertThat(Programs.version("regatta-no-such-program")).isEmpty();
  }

  @Test
  void the_machine_is_told_with_the_versions_of_what_is_compared() {
    assertThat(Machine.json().getJsonObject("versions").getMap()).containsKeys("netty", "iperf3", "openmpi", "vertx",
        "grpc-java").allSatisfy((name, version) -> assertThat(version.toString()).doesNotContain("$").isNotEmpty());
    assertThat(Machine.json().getInteger("cores")).isPositive();
  }
}
