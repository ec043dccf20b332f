package io.regatta.node.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import org.junit.jupiter.api.Test;

class StreamConfigTest {

  @Test
  void theDefaultsAreThoseOfTheStreams() {
    assertThat(StreamConfig.defaults().options()).isEqualTo(StreamOptions.defaults());
  }

  @Test
  void whatStreamsRefuseTheConfigurationRefuses() {
    assertThatThrownBy(() -> new StreamConfig(10, 8 << 20, 2L << 30, 256, 16 << 20, 64 << 20, 64 << 10, 0, 1, 1,
        Transport.AUTO))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("chunk_bytes");
  }
}
