package io.regatta.core.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class Mix64Test {

  /** The published first outputs of SplitMix64 for the seed 1234567. */
  @Test
  void streamOfACounterIsSplitMix64() {
    long seed = 1234567;
    assertThat(Mix64.mix(seed + Mix64.GOLDEN)).isEqualTo(Long.parseUnsignedLong("6457827717110365317"));
    assertThat(Mix64.mix(seed + 2 * Mix64.GOLDEN)).isEqualTo(Long.parseUnsignedLong("3203168211198807973"));
    assertThat(Mix64.mix(seed + 3 * Mix64.GOLDEN)).isEqualTo(Long.parseUnsignedLong("9817491932198370423"));
  }

  @Test
  void textsThatAreNearlyTheSameHashDifferently() {
    Set<Long> hashes = new HashSet<>();
    String[] texts = {"", "\0", "\0\0", "a", "b", "ab", "ba", "a\0", "fc1.weight", "fc2.weight", "fc1.weighu", "größe"};
    for (String text : texts) {
      hashes.add(Mix64.text(text));
    }
    assertThat(hashes).hasSize(texts.length);
  }
}
