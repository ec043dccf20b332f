package io.regatta.protocol.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The alignment and the sizes of buffers. */
class DirectMemoryTest {
  private static final int PAGE = 4096;

  @Test
  void largeBuffersBeginWithPages() {
    List<ByteBuf> buffers = new ArrayList<>();
    for (int bytes : new int[] {PAGE, 10_000, 64 << 10, 1 << 20, 3_000_000, 1 << 20}) {
      ByteBuf buffer = DirectMemory.ALLOCATOR.directBuffer(bytes);
      buffers.add(buffer);
      assertThat(buffer.capacity()).isEqualTo(bytes);
      assertThat(buffer.memoryAddress() % PAGE).as("%d bytes", bytes).isZero();
    }
    buffers.forEach(ByteBuf::release);
  }

  @Test
  void aHeadOfAFrameDoesNotTakeAPage() {
    long before = DirectMemory.ALLOCATOR.pinnedBytes();
    List<ByteBuf> heads = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      heads.add(DirectMemory.ALLOCATOR.directBuffer(9));
    }
    assertThat(DirectMemory.ALLOCATOR.pinnedBytes() - before).isLessThan(100_000);
    heads.forEach(ByteBuf::release);
  }
}
