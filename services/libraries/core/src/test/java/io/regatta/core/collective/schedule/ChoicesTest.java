package io.regatta.core.collective.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.collective.Operation;
import io.regatta.core.collective.WireType;
import io.regatta.core.collective.schedule.Choices.Choice;
import io.regatta.core.error.RegattaException.InvalidInput;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChoicesTest {

  @Test
  void the_shipped_table_knows_every_operation_and_reads_its_own_text() {
    Choices table = Choices.defaults();
    for (Operation operation : Operation.values()) {
      for (int ranks : new int[] {1, 2, 3, 64}) {
        for (long bytes : new long[] {0, 4096, 1 << 20, 1L << 40}) {
          for (Reach reach : Reach.values()) {
            Choice choice = table.choose(operation, bytes, WireType.FLOAT32, reach, new int[ranks]);
            assertThat(choice.chunkBytes()).isPositive();
            assertThat(Choices.parse(table.text()).choose(operation, bytes, WireType.FLOAT32, reach, new int[ranks]))
                .isEqualTo(choice);
          }
        }
      }
    }
  }

  @Test
  void a_row_is_for_ranks_as_far_apart_as_it_says() {
    Choices table = Choices.parse("all-reduce process * * ring 1024\nall-reduce machine 2 * ring 2048\nall-reduce * * * ring 4096\n");
    assertThat(chunk(table, Reach.PROCESS, 3)).isEqualTo(1024);
    assertThat(chunk(table, Reach.MACHINE, 2)).isEqualTo(2048);
    assertThat(chunk(table, Reach.MACHINE, 3)).isEqualTo(4096);
    assertThat(chunk(table, Reach.NETWORK, 2)).isEqualTo(4096);
    assertThatThrownBy(() -> Choices.parse("all-reduce galaxy * * ring 4096")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("unknown word 'galaxy'");
  }

  private static int chunk(Choices table, Reach reach, int ranks) {
    return table.choose(Operation.ALL_REDUCE, 9, WireType.FLOAT32, reach, new int[ranks]).chunkBytes();
  }

  @Test
  void hosts_with_several_ranks_take_two_levels_and_narrow_wires_no_exchange() {
    Choices table = Choices.parse("all-reduce * 2 1000 exchange 1024\n# the rest\nall-reduce * * * ring 4096\n");
    assertThat(table.choose(Operation.ALL_REDUCE, 1000, WireType.FLOAT32, Reach.NETWORK, new int[2]).algorithm())
        .isEqualTo(Algorithm.EXCHANGE);
    assertThat(table.choose(Operation.ALL_REDUCE, 1000, WireType.BFLOAT16, Reach.NETWORK, new int[2]).algorithm())
        .isEqualTo(Algorithm.HALVING_DOUBLING);
    assertThat(table.choose(Operation.ALL_REDUCE, 1 << 20, WireType.FLOAT32, Reach.NETWORK, new int[] {0, 0, 2, 2}))
        .isEqualTo(new Choice(Algorithm.HIERARCHICAL, 4096));
    assertThat(table.choose(Operation.ALL_REDUCE, 1 << 20, WireType.FLOAT32, Reach.NETWORK, new int[] {0, 1, 2}).algorithm())
        .isEqualTo(Algorithm.RING);
    assertThatThrownBy(() -> table.choose(Operation.BARRIER, 0, WireType.FLOAT32, Reach.NETWORK, new int[2]))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("no row for barrier");
  }

  @ParameterizedTest
  @CsvSource({"all-reduce 2 ring, it has 3 words", "all-reduce * * * ring 65536 bytes, it has 7 words",
      "sum * * * ring 65536, unknown word", "broadcast * * * ring 65536, there is no broadcast by ring",
      "barrier * * * ring 1024, there is no barrier by ring", "all-gather * * * tree 65536, there is no all-gather by tree",
      "all-reduce * * * aggregated 65536, there is no all-reduce by aggregated", "all-reduce * * * ring 0, at least 1 byte",
      "all-reduce * 0 * ring 1024, up to 0 ranks", "all-reduce * * -1 ring 1024, -1 bytes", "all-reduce * * 64k ring 1024, 64k"})
  void what_could_not_be_carried_out_is_refused_with_its_line(String row, String why) {
    assertThatThrownBy(() -> Choices.parse("barrier * * * dissemination 1024\n" + row)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("'" + row + "' is no row").hasMessageContaining(why);
  }

  @Test
  void rows_of_one_table_come_before_those_of_another() {
    Choices both = Choices.parse("all-reduce * 2 1000 exchange 1024").before(Choices.defaults());
    assertThat(both.choose(Operation.ALL_REDUCE, 1000, WireType.FLOAT32, Reach.NETWORK, new int[2]))
        .isEqualTo(new Choice(Algorithm.EXCHANGE, 1024));
    assertThat(both.choose(Operation.ALL_REDUCE, 1001, WireType.FLOAT32, Reach.NETWORK, new int[2]))
        .isEqualTo(Choices.defaults().choose(Operation.ALL_REDUCE, 1001, WireType.FLOAT32, Reach.NETWORK, new int[2]));
    assertThat(both.choose(Operation.BARRIER, 0, WireType.FLOAT32, Reach.NETWORK, new int[3]).algorithm())
        .isEqualTo(Algorithm.DISSEMINATION);
  }
}
