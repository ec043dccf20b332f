package io.regatta.protocol.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Both ends in one process, each with a mapping of its own. */
class SharedRingTest {
  private static final int CAPACITY = 1 << 12;

  private record Told(long position, int bytes, byte value) {}

  /**
   * Blocks up to half the capacity, each of one value; the reader takes one when notified, or when there is no room.
   */
  @Property(tries = 200)
  void blocks_are_read_as_they_were_written_and_room_comes_when_they_are_taken_away(
      @ForAll @Size(max = 60) List<@IntRange(min = 1, max = CAPACITY / 2) Integer> sizes, @ForAll @Size(60) List<Boolean> takes)
      throws IOException {
    SharedRing.Writer writer = SharedRing.create(CAPACITY);
    SharedRing.Reader reader = SharedRing.open(writer.name());
    ArrayDeque<Told> told = new ArrayDeque<>();
    byte value = 0;
    int i = 0;
    for (int bytes : sizes) {
      while (!writer.hasRoom(bytes)) {
        assertThat(take(reader, told.remove())).as("the writer waits").isTrue();
      }
      Told block = new Told(writer.next(bytes), bytes, ++value);
      ByteBuffer memory = writer.write(bytes);
      assertThat(memory.remaining()).isEqualTo(bytes);
      while (memory.hasRemaining()) {
        memory.put(value);
      }
      told.add(block);
      if (takes.get(i++)) {
        take(reader, told.remove());
      }
    }
    while (!told.isEmpty()) {
      take(reader, told.remove());
    }
    assertThat(writer.hasRoom(CAPACITY / 2)).isTrue();
  }

  private static boolean take(SharedRing.Reader reader, Told block) {
    ByteBuffer memory = reader.read(block.position, block.bytes);
    byte[] bytes = new byte[block.bytes];
    memory.get(bytes);
    for (byte b : bytes) {
      assertThat(b).isEqualTo(block.value);
    }
    return reader.release(block.position, block.bytes);
  }

  @Test
  void it_has_a_name_until_the_reader_has_it_and_counts_as_taken_when_the_reader_says_so() throws IOException {
    SharedRing.Writer writer = SharedRing.create(CAPACITY);
    Path file = Files.list(Path.of("/dev/shm")).filter(p -> Files.exists(p.resolve(writer.name()))).findFirst().orElseThrow()
        .resolve(writer.name());
    assertThat(file).hasSize(CAPACITY + 4096L);
    SharedRing.Reader reader = SharedRing.open(writer.name());
    assertThat(file).doesNotExist();
    assertThat(writer.isTaken()).isFalse();
    reader.take();
    assertThat(writer.isTaken()).isTrue();
    assertThatThrownBy(() -> SharedRing.open(writer.name())).isInstanceOf(IOException.class);
  }

  @Test
  void one_that_nobody_takes_loses_its_name_when_it_is_closed() throws IOException {
    SharedRing.Writer writer = SharedRing.create(CAPACITY);
    writer.close();
    assertThatThrownBy(() -> SharedRing.open(writer.name())).isInstanceOf(IOException.class);
  }

  @Test
  void names_and_positions_that_cannot_be_are_refused() throws IOException {
    assertThatThrownBy(() -> SharedRing.open("../../etc/passwd")).isInstanceOf(IOException.class).hasMessageContaining("no shared memory");
    SharedRing.Writer writer = SharedRing.create(CAPACITY);
    SharedRing.Reader reader = SharedRing.open(writer.name());
    reader.release(0, 64);
    for (long[] wrong : new long[][] {{-64, 64}, {0, 64}, {65, 64}, {64, -1}, {64, CAPACITY + 1}, {128, CAPACITY - 64}}) {
      assertThatThrownBy(() -> reader.read(wrong[0], (int) wrong[1])).as(wrong[0] + ", " + wrong[1])
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(reader.read(64, CAPACITY - 64).remaining()).isEqualTo(CAPACITY - 64);
  }
}
