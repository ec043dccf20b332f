package io.regatta.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.testing.Numbers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

@Timeout(30)
class SlotLoaderTest {

  @Test
  void shuffleDependsOnSeedAndEpochOnly() {
    LoaderOptions options = LoaderOptions.inOrder(10).shuffled(64, 5);
    List<List<Integer>> first = Numbers.read(new Numbers("shuffled", 100), options, 0);
    assertThat(Numbers.read(new Numbers("shuffled", 100), options.readers(3, 4, true), 0)).isEqualTo(first);
    assertThat(Numbers.read(new Numbers("shuffled", 100), options, 1)).isNotEqualTo(first);
    assertThat(Numbers.read(new Numbers("shuffled", 100), options.shuffled(64, 6), 0)).isNotEqualTo(first);
    assertThat(first.stream().flatMap(List::stream)).containsExactlyInAnyOrderElementsOf(IntStream.range(0, 100).boxed().toList());
  }

  @Test
  void theNumberOfBadLinesIsLoggedAtTheEndOfEachPass() {
    SlotSource<Integer> odd = new Numbers("odd", 100) {
      @Override
      public boolean parse(Integer record, SlotBatch into, int row) {
        return record % 10 != 3 && super.parse(record, into, row);
      }
    };
    Logger log = (Logger) LoggerFactory.getLogger(BadLines.class);
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    logged.start();
    log.addAppender(logged);
    try {
      Numbers.read(odd, LoaderOptions.inOrder(7).readers(3, 2, true), 0);
      Numbers.read(odd, LoaderOptions.inOrder(7), 1);
      Numbers.read(new Numbers("good", 100), LoaderOptions.inOrder(7), 0);
    } finally {
      log.detachAppender(logged);
    }
    assertThat(logged.list).extracting(ILoggingEvent::getFormattedMessage).containsExactly(
        "odd, pass 0: skipped 10 lines that could not be parsed (data.on_bad_line is skip)",
        "odd, pass 1: skipped 10 lines that could not be parsed (data.on_bad_line is skip)");
  }

  @Test
  void unorderedReadersLoseNothing() {
    List<List<Integer>> read = Numbers.read(new Numbers("unordered", 1000), LoaderOptions.inOrder(7).readers(4, 3, false), 0);
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
    SlotLoader loader = SlotLoader.open(new Numbers("closing", 1_000_000), LoaderOptions.inOrder(2).readers(2, 1, true), 0);
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
    CompletableFuture<SlotBatch> waiting = CompletableFuture.supplyAsync(loader::next, task -> new Thread(task).start());
    parsing.await();
    loader.close();
    assertThat(waiting).failsWithin(Duration.ofSeconds(20)).withThrowableThat().havingRootCause()
        .isInstanceOf(Cancelled.class);
    assertThat(readerThreads("stuck")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2})
  void a_reader_that_cannot_be_started_ends_those_before_it_and_the_source(int failing) {
    AtomicInteger closed = new AtomicInteger();
    SlotSource<Integer> source = new Numbers("threadless", 1_000_000) {
      @Override
      public Cursor<Integer> open() {
        Cursor<Integer> records = super.open();
        return new Cursor<>() {
          @Override
          public Integer next() {
            return records.next();
          }

          @Override
          public void close() {
            closed.incrementAndGet();
          }
        };
      }
    };
    AtomicInteger made = new AtomicInteger();
    ThreadFactory threads = body -> made.getAndIncrement() < failing ? new Thread(body) : new Thread(body) {
      @Override
      public void start() {
        throw new OutOfMemoryError("unable to create native thread");
      }
    };
    assertThatThrownBy(() -> SlotLoader.open(source, LoaderOptions.inOrder(2).readers(4, 1, true), DataCursor.startOf(0),
        threads,
        Timeline.NONE))
        .isInstanceOf(OutOfMemoryError.class).hasMessage("unable to create native thread");
    assertThat(readerThreads("threadless")).isEmpty();
    assertThat(closed).hasValue(1);
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
}
