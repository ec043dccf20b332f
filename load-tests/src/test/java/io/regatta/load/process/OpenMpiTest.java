package io.regatta.load.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenMpiTest {

  /** If OpenMPI is not installed there is nothing to run, and the driver reports it. */
  @Test
  void sends_whole_buffers_for_the_time_asked_for_where_it_is_installed() throws Exception {
    Optional<OpenMpi> found = OpenMpi.find();
    assertThat(found.isPresent()).isEqualTo(MpiProgram.missing().isEmpty());
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
  void says_what_is_missing_when_mpicc_is_there_without_a_compiler_or_header(@TempDir Path dir) throws Exception {
    Optional<String> mpirun = Optional.of("mpirun");
    assertThat(MpiProgram.missing(mpirun, Optional.empty()).orElseThrow()).contains("no mpirun and mpicc in PATH");
    String noHeader = script(dir, "echo 'x.c:1:10: fatal error: mpi.h: No such file' >&2; exit 1");
    assertThat(MpiProgram.missing(mpirun, Optional.of(noHeader)).orElseThrow())
        .contains("fatal error: mpi.h: No such file").contains("libopenmpi-dev").doesNotContain("\n");
    assertThat(MpiProgram.missing(mpirun, Optional.of(script(dir, "exit 127"))).orElseThrow())
        .contains("libopenmpi-dev");
    assertThat(MpiProgram.missing(mpirun, Optional.of(script(dir, "grep -q 'include <mpi.h>' \"$2\"")))).isEmpty();
  }

  private static String script(Path dir, String body) throws IOException {
    Path script = Files.writeString(dir.resolve("mpicc"), "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    return script.toString();
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
