package io.regatta.trainer.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SlotLoaderTest {

  @Property(tries = 100)
  void shardsConcatenateToTheBatchesOfOneWorker(@ForAll @IntRange(max = 200) int records,
      @ForAll @IntRange(min = 1, max = 9) int batch, @ForAll @IntRange(min = 1, max = 4) int workers,
      @ForAll @IntRange(max = 50) int shuffle, @ForAll boolean dropLast, @ForAll @IntRange(min = 1, max = 3) int readers) {
    LoaderOptions options = LoaderOptions.inOrder(batch).dropLast(dropLast).shuffled(shuffle, 7).readers(readers, 2, true);
    List<List<Integer>> alone = read(numbers(records), new LoaderOptions(batch * workers, dropLast, shuffle, 7, 2, 1,
        true, 0, 1), 3);
    List<List<Integer>> together = new ArrayList<>();
    for (int worker = 0; worker < workers; worker++) {
      LoaderOptions mine = options.shard(worker, workers);
      List<List<Integer>> part = read(numbers(records), mine, 3);
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

  @Test
  void shuffleDependsOnSeedAndEpochOnly() {
    LoaderOptions options = LoaderOptions.inOrder(10).shuffled(64, 5);
    List<List<Integer>> first = read(numbers(100), options, 0);
    assertThat(read(numbers(100), options.readers(3, 4, true), 0)).isEqualTo(first);
    assertThat(read(numbers(100), options, 1)).isNotEqualTo(first);
    assertThat(read(numbers(100), options.shuffled(64, 6), 0)).isNotEqualTo(first);
    assertThat(first.stream().flatMap(List::stream)).containsExactlyInAnyOrderElementsOf(IntStream.range(0, 100).boxed().toList());
  }

  @Test
  void unorderedReadersLoseNothing() {
    List<List<Integer>> read = read(numbers(1000), LoaderOptions.inOrder(7).readers(4, 3, false), 0);
    assertThat(read.stream().flatMap(List::stream)).containsExactlyInAnyOrderElementsOf(IntStream.range(0, 1000).boxed().toList());
  }

  @Test
  void failureReachesTheConsumerInItsPlaceAndEndsTheReaders() {
    SlotLoader loader = SlotLoader.open(failingAt(25, 100), LoaderOptions.inOrder(10).readers(3, 2, true), 0);
    assertThat(loader.next().rows()).isEqualTo(10);
    assertThat(loader.next().rows()).isEqualTo(10);
    assertThatThrownBy(loader::next).isInstanceOf(InvalidInput.class).hasMessageContaining("record 25");
    assertThat(readerThreads("failing")).isEmpty();
  }

  @Test
  void closeEndsReadersThatWaitForAFullQueue() {
    SlotLoader loader = SlotLoader.open(numbers("closing", 1_000_000), LoaderOptions.inOrder(2).readers(2, 1, true), 0);
    assertThat(loader.next().rows()).isEqualTo(2);
    loader.close();
    assertThat(readerThreads("closing")).isEmpty();
  }

  @Test
  void closeReleasesAWaitingConsumer() throws Exception {
    CountDownLatch parsing = new CountDownLatch(1);
    SlotSource<Integer> stuck = new Numbers("stuck", 10) {
      @Override
      public boolean parse(Integer record, SlotBatch into, int row) {
        parsing.countDown();
        try {
          new CountDownLatch(1).await();
        } catch (InterruptedException closing) {
          Thread.currentThread().interrupt();
        }
        return true;
      }
    };
    SlotLoader loader = SlotLoader.open(stuck, LoaderOptions.inOrder(1).readers(1, 1, false), 0);
    CompletableFuture<SlotBatch> waiting = CompletableFuture.supplyAsync(loader::next);
    parsing.await();
    loader.close();
    assertThat(waiting).failsWithin(Duration.ofSeconds(5)).withThrowableThat().havingRootCause()
        .isInstanceOf(Cancelled.class);
    assertThat(readerThreads("stuck")).isEmpty();
  }

  private static List<String> readerThreads(String name) {
    return Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
        .filter(thread -> thread.startsWith("regatta-read-" + name)).toList();
  }

  private static SlotSource<Integer> failingAt(int bad, int records) {
    return new Numbers("failing", records) {
      @Override
      public boolean parse(Integer record, SlotBatch into, int row) {
        if (record == bad) {
          throw new InvalidInput("record " + record);
        }
        return super.parse(record, into, row);
      }
    };
  }

  private static SlotSource<Integer> numbers(int records) {
    return numbers("numbers", records);
  }

  private static SlotSource<Integer> numbers(String name, int records) {
    return new Numbers(name, records);
  }

  private static List<List<Integer>> read(SlotSource<?> source, LoaderOptions options, int epoch) {
    List<List<Integer>> batches = new ArrayList<>();
    try (SlotLoader loader = SlotLoader.open(source, options, epoch)) {
      while (loader.hasNext()) {
        SlotBatch batch = loader.next();
        batches.add(IntStream.range(0, batch.rows()).mapToObj(row -> (int) batch.ids()[row]).toList());
      }
    }
    return batches;
  }

  /** A source whose record i has the id i. */
  private static class Numbers implements SlotSource<Integer> {

    private final String name;
    private final int records;

    Numbers(String name, int records) {
      this.name = name;
      this.records = records;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Layout layout() {
      return new Layout(0, 1);
    }

    @Override
    public long size() {
      return records;
    }

    @Override
    public Cursor<Integer> open() {
      return new Cursor<>() {
        private int next;

        @Override
        public Integer next() {
          return next < records ? Integer.valueOf(next++) : null;
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public boolean parse(Integer record, SlotBatch into, int row) {
      into.ids()[row] = record;
      return true;
    }
  }
}
