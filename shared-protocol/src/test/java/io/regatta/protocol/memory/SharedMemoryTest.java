package io.regatta.protocol.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Both ends in one process, each with a mapping of its own. */
@EnabledOnOs(OS.LINUX)
class SharedMemoryTest {
  private static final int BYTES = 100_000;

  @Test
  void what_one_end_writes_the_other_one_reads_where_it_lies_and_cannot_change() throws IOException {
    SharedMemory memory = SharedMemory.allocate(BYTES);
    ByteBuffer view = SharedMemory.open(memory.name());
    assertThat(view.capacity()).isEqualTo(BYTES);
    assertThat(view.get(BYTES - 1)).isZero();
    memory.bytes().put(BYTES - 1, (byte) 7);
    assertThat(view.get(BYTES - 1)).isEqualTo((byte) 7);
    assertThat(view.isReadOnly()).isTrue();
  }

  @Test
  void it_has_no_name_that_would_be_left_behind_by_a_process_that_is_killed() throws IOException {
    SharedMemory memory = SharedMemory.allocate(BYTES);
    String file = memory.name().substring(memory.name().lastIndexOf('/') + 1);
    try (Stream<Path> directories = Files.list(Path.of("/dev/shm"))) {
      assertThat(directories.map(directory -> directory.resolve(file))).noneMatch(Files::exists);
    }
  }

  @Test
  void an_open_file_that_is_not_that_memory_is_not_opened() throws IOException {
    SharedMemory memory = SharedMemory.allocate(BYTES);
    SharedMemory another = SharedMemory.allocate(BYTES);
    String file = memory.name().substring(memory.name().lastIndexOf('/'));
    String number = another.name().substring(0, another.name().lastIndexOf('/'));
    assertThatThrownBy(() -> SharedMemory.open(number + file)).isInstanceOf(IOException.class).hasMessageContaining("is not the memory");
    for (String name : new String[] {"", "1/2", "../1/2/" + file, "self/1" + file, "1/../" + file, memory.name() + "/"}) {
      assertThatThrownBy(() -> SharedMemory.open(name)).as(name).isInstanceOf(IOException.class)
          .hasMessageContaining("no memory of a process is called");
    }
  }
}
