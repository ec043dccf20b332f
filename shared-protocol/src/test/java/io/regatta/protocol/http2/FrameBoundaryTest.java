package io.regatta.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** The end of the PING's answer against a plain search of all bytes at once. */
class FrameBoundaryTest {

  /** The bytes are those of the frame itself, so that many places resemble it for a while. */
  @Property(tries = 1000)
  void it_is_found_however_the_bytes_are_cut(@ForAll @Size(max = 60) List<@IntRange(max = 3) Integer> before,
      @ForAll @IntRange(max = 16) int started, @ForAll @Size(max = 20) List<@IntRange(max = 3) Integer> after,
      @ForAll @Size(min = 1, max = 5) List<@IntRange(min = 1, max = 25) Integer> cuts,
      @ForAll @IntRange(max = 2) int number) {
    long data = new long[] {0, 0x0000080601000000L, -1}[number];
    byte[] frame = ByteBuffer.allocate(17).put(new byte[] {0, 0, 8, 6, 1, 0, 0, 0, 0}).putLong(data).array();
    ByteBuffer all = ByteBuffer.allocate(before.size() + started + 17 + after.size());
    before.forEach(i -> all.put(frame[2 + i]));
    all.put(frame, 0, started).put(frame);
    after.forEach(i -> all.put(frame[2 + i]));
    byte[] bytes = all.array();
    int expected = 0;
    while (!Arrays.equals(bytes, expected, expected + 17, frame, 0, 17)) {
      expected++;
    }
    assertThat(find(new FrameBoundary(data), bytes, cuts)).isEqualTo(expected + 17);
  }

  private static int find(FrameBoundary boundary, byte[] bytes, List<Integer> cuts) {
    for (int at = 0, i = 0; at < bytes.length; i++) {
      int to = Math.min(bytes.length, at + cuts.get(i % cuts.size()));
      int end = boundary.find(Unpooled.wrappedBuffer(bytes, at, to - at));
      if (end >= 0) {
        return at + end;
      }
      at = to;
    }
    return -1;
  }
}
