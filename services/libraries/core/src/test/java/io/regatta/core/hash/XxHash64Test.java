package io.regatta.core.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Oracle: the published sanity vectors of xxHash (xxhsum's self-test), and known hashes of texts. */
class XxHash64Test {

  private static final long PRIME_32 = 2654435761L;
  private static final long PRIME_64 = 0x9E3779B185EBCA8DL;

  /** The input of xxhsum's self-test. */
  private static byte[] sanityBuffer(int length) {
    byte[] bytes = new byte[length];
    long generator = PRIME_32;
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (generator >>> 56);
      generator *= PRIME_64;
    }
    return bytes;
  }

  @Test
  void equals_the_published_vectors() {
    byte[] bytes = sanityBuffer(222);
    assertThat(XxHash64.of(bytes, 0, 0, 0)).isEqualTo(0xEF46DB3751D8E999L);
    assertThat(XxHash64.of(bytes, 0, 0, PRIME_32)).isEqualTo(0xAC75FDA2929B17EFL);
    assertThat(XxHash64.of(bytes, 0, 1, 0)).isEqualTo(0xE934A84ADB052768L);
    assertThat(XxHash64.of(bytes, 0, 1, PRIME_32)).isEqualTo(0x5014607643A9B4C3L);
    assertThat(XxHash64.of(bytes, 0, 4, 0)).isEqualTo(0x9136A0DCA57457EEL);
    assertThat(XxHash64.of(bytes, 0, 14, 0)).isEqualTo(0x8282DCC4994E35C8L);
    assertThat(XxHash64.of(bytes, 0, 14, PRIME_32)).isEqualTo(0xC3BD6BF63DEB6DF0L);
    assertThat(XxHash64.of(bytes, 0, 222, 0)).isEqualTo(0xB641AE8CB691C174L);
    assertThat(XxHash64.of(bytes, 0, 222, PRIME_32)).isEqualTo(0x20CB8AB7AE10C14AL);
  }

  @Test
  void does_not_depend_on_where_the_bytes_lie() {
    byte[] text = "Nobody inspects the spammish repetition".getBytes(StandardCharsets.US_ASCII);
    byte[] moved = new byte[text.length + 7];
    System.arraycopy(text, 0, moved, 3, text.length);
    assertThat(XxHash64.of(text, 0, text.length, 0)).isEqualTo(0xFBCEA83C8A378BF1L)
        .isEqualTo(XxHash64.of(moved, 3, 3 + text.length, 0));
  }
}
