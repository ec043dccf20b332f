package io.regatta.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.data.testing.Numbers;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class ShardingPropertyTest {

  @Property(tries = 100)
  void shardsConcatenateToTheBatchesOfOneWorker(@ForAll @IntRange(max = 200) int records,
      @ForAll @IntRange(min = 1, max = 9) int batch, @ForAll @IntRange(min = 1, max = 4) int workers,
      @ForAll @IntRange(max = 50) int shuffle, @ForAll boolean dropLast, @ForAll @IntRange(min = 1, max = 3) int readers) {
    SlotSource<Integer> source = new Numbers("numbers", records);
    LoaderOptions options = LoaderOptions.inOrder(batch).dropLast(dropLast).shuffled(shuffle, 7).readers(readers, 2, true);
    List<List<Integer>> alone = Numbers.read(source, new LoaderOptions(batch * workers, dropLast, shuffle, 7, 2, 1,
        true, 0, 1), 3);
    List<List<Integer>> together = new ArrayList<>();
    for (int worker = 0; worker < workers; worker++) {
      LoaderOptions mine = options.shard(worker, workers);
      List<List<Integer>> part = Numbers.read(source, mine, 3);
      assertThat(mine.batches(records)).isEqualTo(part.size());
      assertThat(mine.examples(records)).isEqualTo(part.stream().mapToInt(List::size).sum());
      for (int step = 0; step < part.size(); step++) {
        if (step == together.size()) {
          together.add(new ArrayList<>());
        }
        together.get(step).addAll(part.get(step));
      }
    }
    assertThat(together).isEqualTo(alone);
    assertThat(alone.stream().mapToInt(List::size).sum())
        .isEqualTo(dropLast ? records - records % (batch * workers) : records);
  }

  /** The example of a last window of one, say, goes to nobody, rather than to one of two workers. */
  @Property(tries = 100)
  void workersWhoseStepsWaitForEachOtherGetTheSameNumberOfBatches(@ForAll @IntRange(max = 200) int records,
      @ForAll @IntRange(min = 1, max = 9) int batch, @ForAll @IntRange(min = 1, max = 4) int workers, @ForAll boolean dropLast) {
    SlotSource<Integer> source = new Numbers("numbers", records);
    LoaderOptions options = LoaderOptions.inOrder(batch).dropLast(dropLast).ofEqualSteps();
    int last = records % (batch * workers);
    int leftOut = dropLast || last < workers ? last : 0;
    int examples = 0;
    for (int worker = 0; worker < workers; worker++) {
      LoaderOptions mine = options.shard(worker, workers);
      List<List<Integer>> part = Numbers.read(source, mine, 3);
      assertThat(part).hasSize((records - leftOut + batch * workers - 1) / (batch * workers)).doesNotContain(List.of());
      assertThat(mine.batches(records)).isEqualTo(part.size());
      assertThat(mine.examples(records)).isEqualTo(part.stream().mapToInt(List::size).sum());
      examples += part.stream().mapToInt(List::size).sum();
    }
    assertThat(examples).isEqualTo(records - leftOut);
  }
}
