package io.regatta.node.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.stream.StreamOptions;
import org.junit.jupiter.api.Test;

class StreamConfigTest {

  @Test
  void theDefaultsAreThoseOfTheStreams() {
    assertThat(StreamConfig.defaults().options()).isEqualTo(StreamOptions.defaults());
  }

  @Test
  void whatStreamsRefuseTheConfigurationRefuses() {
    assertThatThrownBy(() -> StreamConfig.defaults().withChunkBytes(10))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("chunk_bytes");
  }
}
