package io.regatta.core.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.collective.Choices.Choice;
import io.regatta.core.error.RegattaException.InvalidInput;
import org.junit.jupiter.api.Test;

class ChoicesTest {

  @Test
  void the_shipped_table_knows_every_operation_and_reads_its_own_text() {
    Choices table = Choices.defaults();
    for (Operation operation : Operation.values()) {
      for (int ranks : new int[] {1, 2, 3, 64}) {
        for (long bytes : new long[] {0, 4096, 1 << 20, 1L << 40}) {
          Choice choice = table.choose(operation, bytes, WireType.FLOAT32, new int[ranks]);
          assertThat(choice.chunkBytes()).isPositive();
          assertThat(Choices.parse(table.text()).choose(operation, bytes, WireType.FLOAT32, new int[ranks]))
              .isEqualTo(choice);
        }
      }
    }
  }

  @Test
  void hosts_with_several_ranks_take_two_levels_and_narrow_wires_no_exchange() {
    Choices table = Choices.parse("all-reduce 2 1000 exchange 1024\n# the rest\nall-reduce * * ring 4096\n");
    assertThat(table.choose(Operation.ALL_REDUCE, 1000, WireType.FLOAT32, new int[2]).algorithm())
        .isEqualTo(Algorithm.EXCHANGE);
    assertThat(table.choose(Operation.ALL_REDUCE, 1000, WireType.BFLOAT16, new int[2]).algorithm())
        .isEqualTo(Algorithm.HALVING_DOUBLING);
    assertThat(table.choose(Operation.ALL_REDUCE, 1 << 20, WireType.FLOAT32, new int[] {0, 0, 2, 2}))
        .isEqualTo(new Choice(Algorithm.HIERARCHICAL, 4096));
    assertThat(table.choose(Operation.ALL_REDUCE, 1 << 20, WireType.FLOAT32, new int[] {0, 1, 2}).algorithm())
        .isEqualTo(Algorithm.RING);
    assertThatThrownBy(() -> table.choose(Operation.BARRIER, 0, WireType.FLOAT32, new int[2]))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("no row for barrier");
    assertThatThrownBy(() -> Choices.parse("all-reduce 2 ring"))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("'all-reduce 2 ring' is no row");
  }
}
