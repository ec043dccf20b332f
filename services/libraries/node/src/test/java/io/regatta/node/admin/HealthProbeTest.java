package io.regatta.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The arguments of the health check's program; its answers are tested with a node. */
class HealthProbeTest {

  @Test
  void what_is_no_port_is_a_failed_check_and_no_exception() {
    assertThat(HealthProbe.run()).isEqualTo(1);
    assertThat(HealthProbe.run("")).isEqualTo(1);
    assertThat(HealthProbe.run("admin")).isEqualTo(1);
    assertThat(HealthProbe.run("65536")).isEqualTo(1);
    assertThat(HealthProbe.run("8080", "8081")).isEqualTo(1);
  }
}
