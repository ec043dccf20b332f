package io.regatta.training.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class ExampleBytesTest {

  @Property(tries = 100)
  void examplesComeBackAsTheyWere(@ForAll @IntRange(min = 1, max = 4) int dense,
      @ForAll @Size(max = 3) List<@IntRange(min = 1, max = 3) Integer> widths, @ForAll boolean valued,
      @ForAll @IntRange(max = 5) int rows, @ForAll long seed) {
    Layout layout = new Layout(dense, widths, valued);
    Random random = new Random(seed);
    SlotBatch batch = SlotBatch.allocate(layout, rows);
    for (int i = 0; i < batch.dense().length; i++) {
      batch.dense()[i] = random.nextFloat();
    }
    for (int i = 0; i < batch.ids().length; i++) {
      batch.ids()[i] = random.nextLong();
      if (valued) {
        batch.values()[i] = random.nextFloat();
      }
    }
    for (int i = 0; i < rows; i++) {
      batch.labels()[i] = random.nextFloat();
    }
    byte[] bytes = ExampleBytes.of(batch);
    assertThat(bytes).hasSize(rows * ExampleBytes.perRow(layout));
    SlotBatch back = ExampleBytes.read(layout, rows, ByteBuffer.wrap(bytes));
    assertThat(back).usingRecursiveComparison().isEqualTo(batch);
    assertThatThrownBy(() -> ExampleBytes.read(layout, rows + 1, ByteBuffer.wrap(bytes))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("all trainers must read the same format");
  }
}
