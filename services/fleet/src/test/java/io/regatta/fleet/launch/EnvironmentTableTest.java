package io.regatta.fleet.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The frame of PaddlePaddle's launcher, letter by letter. */
class EnvironmentTableTest {

  @Test
  void names_are_right_aligned_and_values_centred_and_cut_to_their_end() {
    Map<String, String> environment = new LinkedHashMap<>();
    environment.put("PADDLE_TRAINER_ID", "0");
    environment.put("PADDLE_CURRENT_ENDPOINT", "127.0.0.1:10039");
    environment.put("PADDLE_TRAINER_ENDPOINTS", "127.0.0.1:10039,127.0.0.1:31719");
    environment.put("LONG", "0123456789".repeat(5));
    assertThat(EnvironmentTable.of(environment)).isEqualTo("""
            +=======================================================================================+
            |                        Distributed Envs                      Value                    |
            +---------------------------------------------------------------------------------------+
            |                       PADDLE_TRAINER_ID                        0                      |
            |                 PADDLE_CURRENT_ENDPOINT                 127.0.0.1:10039               |
            |                PADDLE_TRAINER_ENDPOINTS         127.0.0.1:10039,127.0.0.1:31719       |
            |                                    LONG  ... 90123456789012345678901234567890123456789|
            +=======================================================================================+""".indent(4)
        .stripTrailing());
  }
}
