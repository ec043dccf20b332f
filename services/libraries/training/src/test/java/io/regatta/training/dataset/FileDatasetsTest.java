package io.regatta.training.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.testing.TestClock;
import io.regatta.data.DataCursor;
import io.regatta.data.ExampleExchange;
import io.regatta.data.Layout;
import io.regatta.data.LoadLog;
import io.regatta.data.SlotBatch;
import io.regatta.data.Slots;
import io.regatta.data.file.DataFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** QueueDataset and InMemoryDataset on small MultiSlot files. */
@Timeout(60)
class FileDatasetsTest {

  private static final Slots SLOTS = Slots.builder().ids("id", 2).label("label").build();
  private static final int FILES = 7;
  private static final int LINES = 23;
  private static final List<Long> ALL = LongStream.rangeClosed(1, FILES * LINES).boxed().toList();

  @TempDir
  Path dir;

  private List<Path> files;
  private NDManager manager;

  @BeforeEach
  void write() throws IOException {
    manager = NDManager.newBaseManager();
    files = new ArrayList<>();
    for (int file = 0, id = 1; file < FILES; file++) {
      StringBuilder text = new StringBuilder();
      for (int line = 0; line < LINES; line++, id++) {
        text.append("1 ").append(id).append(" 1 1\n");
      }
      files.add(Files.writeString(dir.resolve(String.format("part-%05d", file)), text));
    }
  }

  @AfterEach
  void nothingIsLeft() {
    manager.close();
    assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
        .noneMatch(name -> name.startsWith("regatta-read-multislot") || name.startsWith("regatta-load-multislot"));
    assertThat(ProcessHandle.current().descendants()).isEmpty();
  }

  private QueueDataset.Builder queue() {
    return QueueDataset.builder().setFilelist(files).setUseVar(SLOTS);
  }

  private InMemoryDataset.Builder inMemory() {
    return InMemoryDataset.builder().setFilelist(files).setUseVar(SLOTS).setBatchSize(10);
  }

  /** First id of every example of a pass, in the order of batches. */
  private List<Long> pass(SlotDataset dataset) {
    return pass(dataset, manager);
  }

  private static List<Long> pass(SlotDataset dataset, NDManager manager) {
    List<Long> ids = new ArrayList<>();
    for (Batch batch : dataset.getData(manager)) {
      try (batch) {
        assertThat(batch.getData().get(0).getShape()).isEqualTo(new Shape(batch.getSize(), 2));
        long[] read = batch.getData().get(0).toLongArray();
        for (int i = 0; i < read.length; i += 2) {
          ids.add(read[i]);
        }
      }
    }
    return ids;
  }

  @Test
  void queueReadsEveryFileOnceWhateverTheThreads() {
    for (int threads : new int[] {1, 3, 10}) {
      try (QueueDataset dataset = queue().setThread(threads).setBatchSize(4).setPipeCommand("sed 's/^/ /'").build()) {
        assertThat(pass(dataset)).containsExactlyInAnyOrderElementsOf(ALL);
        assertThat(pass(dataset)).as("the next pass").containsExactlyInAnyOrderElementsOf(ALL);
      }
    }
  }

  @Test
  void eachThreadOfTheQueueKeepsToItsFiles() {
    try (QueueDataset dataset = queue().setThread(3).setBatchSize(LINES).build()) {
      for (Batch batch : dataset.getData(manager)) {
        try (batch) {
          long[] ids = batch.getData().get(0).toLongArray();
          assertThat(ids[2 * LINES - 2] - ids[0]).as("a batch is one file").isEqualTo(LINES - 1);
        }
      }
    }
  }

  @Test
  void aBadFileEndsTheQueueWithItsName() throws IOException {
    Files.writeString(files.get(4), "1 7 1 1\nrubbish\n");
    try (QueueDataset dataset = queue().setThread(2).setBatchSize(5).build()) {
      assertThatThrownBy(() -> pass(dataset)).isInstanceOf(InvalidInput.class).hasMessageContaining("part-00004, line 2");
    }
  }

  @Test
  void workersOfAQueueReadAllFilesTogether() {
    List<Long> together = new ArrayList<>();
    for (int worker = 0; worker < 3; worker++) {
      try (QueueDataset all = queue().build(); QueueDataset mine = all.shard(worker, 3)) {
        together.addAll(pass(mine));
      }
    }
    assertThat(together).isEqualTo(ALL);
  }

  @Test
  void aPartThatWouldLeaveExamplesOutIsRefused() {
    try (QueueDataset queue = queue().build(); InMemoryDataset loaded = inMemory().build()) {
      assertThatThrownBy(() -> queue.shard(0, FILES + 1)).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("only 7 files for 8 workers");
      assertThatThrownBy(() -> loaded.shard(0, 2)).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("pass worker.shard(files) to setFilelist");
    }
  }

  @Test
  void slotsChangePlacesAmongExamplesAndNothingElseDoes() throws IOException {
    Slots slots = Slots.builder().id("kept").ids("moved", 2).label("label").build();
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= 50; i++) {
      text.append("1 ").append(i).append(" 2 ").append(1000 + i).append(' ').append(2000 + i).append(" 1 1\n");
    }
    Path file = Files.writeString(dir.resolve("slots"), text);
    try (InMemoryDataset dataset = InMemoryDataset.builder().setFilelist(List.of(file)).setUseVar(slots).setBatchSize(50).build()) {
      dataset.loadIntoMemory();
      List<long[]> before = rows(dataset);
      dataset.slotsShuffle(Set.of(slots.number("moved")), 3);
      List<long[]> after = rows(dataset);
      assertThat(after.stream().map(row -> row[0])).containsExactlyElementsOf(before.stream().map(row -> row[0]).toList());
      assertThat(after).allSatisfy(row -> assertThat(row[2] - row[1]).as("ids of a slot keep together").isEqualTo(1000));
      assertThat(after.stream().map(row -> row[1])).containsExactlyInAnyOrderElementsOf(before.stream().map(row -> row[1]).toList())
          .isNotEqualTo(before.stream().map(row -> row[1]).toList());
      dataset.slotsShuffle(Set.of(), 3);
      assertThat(rows(dataset)).usingRecursiveComparison().isEqualTo(before);
      dataset.slotsShuffle(Set.of(slots.number("moved")), 3);
      dataset.globalShuffle(new Handing(0, 1, List.of(new CompletableFuture<>())), 4);
      assertThat(rows(dataset)).as("with their own ids").usingRecursiveFieldByFieldElementComparator()
          .containsExactlyInAnyOrderElementsOf(before);
      assertThatThrownBy(() -> dataset.slotsShuffle(Set.of(2), 3)).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("only 0 to 1");
      assertThatThrownBy(() -> slots.number("label")).isInstanceOf(InvalidInput.class).hasMessageContaining("[kept, moved]");
    }
  }

  /** Ids of every example of a pass. */
  private List<long[]> rows(SlotDataset dataset) {
    List<long[]> rows = new ArrayList<>();
    for (Batch batch : dataset.getData(manager)) {
      try (batch) {
        long[] ids = batch.getData().get(0).toLongArray();
        for (int i = 0; i < ids.length; i += 3) {
          rows.add(Arrays.copyOfRange(ids, i, i + 3));
        }
      }
    }
    return rows;
  }

  @Test
  void memoryKeepsTheOrderOfFilesAndShufflesBySeed() {
    List<Long> told = new ArrayList<>();
    try (InMemoryDataset dataset = inMemory().setThread(4).build(); InMemoryDataset other = inMemory().build()) {
      assertThatThrownBy(() -> pass(dataset)).isInstanceOf(InvalidInput.class).hasMessageContaining("call loadIntoMemory");
      dataset.loadIntoMemory((bytes, all) -> told.addAll(List.of(bytes, all)));
      other.loadIntoMemory();
      long size = files.stream().mapToLong(file -> file.toFile().length()).sum();
      assertThat(told.subList(told.size() - 2, told.size())).containsExactly(size, size);
      assertThat(dataset.getMemoryDataSize()).isEqualTo(ALL.size());
      assertThat(dataset.batches()).isEqualTo(17);
      assertThat(pass(dataset)).isEqualTo(ALL).isEqualTo(pass(dataset));

      dataset.localShuffle(5);
      other.localShuffle(5);
      assertThat(dataset.getShuffleDataSize()).isEqualTo(ALL.size());
      List<Long> first = pass(dataset);
      assertThat(first).isNotEqualTo(ALL).containsExactlyInAnyOrderElementsOf(ALL).isEqualTo(pass(other));
      other.localShuffle(6);
      assertThat(pass(other)).isNotEqualTo(first);

      dataset.releaseMemory();
      assertThat(dataset.getMemoryDataSize()).isZero();
      assertThatThrownBy(() -> pass(dataset)).isInstanceOf(InvalidInput.class);
      dataset.preloadIntoMemory();
      dataset.waitPreloadDone();
      assertThat(pass(dataset)).isEqualTo(ALL);
    }
  }

  @Test
  void aShuffleEndsAnUnfinishedPass() {
    try (InMemoryDataset dataset = inMemory().setThread(1).build()) {
      dataset.loadIntoMemory();
      Iterator<Batch> unfinished = dataset.getData(manager).iterator();
      unfinished.next().close();
      dataset.localShuffle(5);
      assertThatThrownBy(() -> unfinished.forEachRemaining(Batch::close)).isInstanceOf(Cancelled.class);
      assertThat(pass(dataset)).containsExactlyInAnyOrderElementsOf(ALL);
    }
  }

  @Test
  void aLoadTellsItsRateAndTheTimeLeft() {
    assertThat(new LoadLog(TestClock.at(0), "criteo").text(250_000_000, 1_000_000_000, 2.5))
        .isEqualTo("loading criteo data: 250/1000 MB, 100.0 MB/s, 8 s left");
  }

  @Test
  void aPassOverMemoryGoesOnAtItsCursor() {
    try (InMemoryDataset dataset = inMemory().build(); InMemoryDataset resumed = inMemory().build()) {
      dataset.loadIntoMemory();
      resumed.loadIntoMemory();
      dataset.localShuffle(3);
      resumed.localShuffle(3);
      List<DataCursor> cursors = new ArrayList<>();
      for (Batch batch : dataset.getData(manager)) {
        try (batch) {
          cursors.add(((BatchWithIds) batch).after());
        }
      }
      List<Long> whole = pass(dataset);
      resumed.resume(cursors.get(6));
      assertThat(pass(resumed)).isEqualTo(whole.subList(70, whole.size()));
      assertThat(pass(resumed)).as("the next pass is whole").isEqualTo(whole);
    }
  }

  /** Workers that hand each other lists. */
  private record Handing(int worker, int workers, List<CompletableFuture<List<List<SlotBatch>>>> given)
      implements ExampleExchange {

    @Override
    public List<List<SlotBatch>> exchange(Layout layout, List<List<SlotBatch>> outgoing) {
      given.get(worker).complete(outgoing);
      return given.stream().map(of -> of.join().get(worker)).toList();
    }
  }

  private List<List<Long>> shuffledGlobally(int workers, long seed) {
    List<CompletableFuture<List<List<SlotBatch>>>> given = Stream.generate(
        CompletableFuture<List<List<SlotBatch>>>::new).limit(workers).toList();
    List<CompletableFuture<List<Long>>> passes = new ArrayList<>();
    for (int worker = 0; worker < workers; worker++) {
      int number = worker;
      passes.add(CompletableFuture.supplyAsync(() -> {
        List<Path> mine = DataFiles.shard(files, number, workers);
        try (InMemoryDataset dataset = inMemory().setFilelist(mine).build(); NDManager own = NDManager.newBaseManager()) {
          if (!mine.isEmpty()) {
            dataset.loadIntoMemory();
          }
          dataset.globalShuffle(new Handing(number, workers, given), seed);
          assertThat(dataset.getShuffleDataSize()).isEqualTo(dataset.getMemoryDataSize());
          return dataset.getMemoryDataSize() == 0 ? List.<Long>of() : pass(dataset, own);
        }
      }, task -> new Thread(task).start()));
    }
    return passes.stream().map(CompletableFuture::join).toList();
  }

  @Test
  void aGlobalShuffleKeepsEveryExampleOnceInAnOrderOfTheSeed() {
    for (int workers : new int[] {1, 3, 9}) { // of nine, two have no file
      List<List<Long>> passes = shuffledGlobally(workers, 8);
      List<Long> together = passes.stream().flatMap(List::stream).toList();
      assertThat(together).isNotEqualTo(ALL).containsExactlyInAnyOrderElementsOf(ALL);
      assertThat(shuffledGlobally(workers, 8)).isEqualTo(passes);
      assertThat(shuffledGlobally(workers, 9)).isNotEqualTo(passes);
      assertThat(passes).allSatisfy(ids -> assertThat(ids).hasSizeBetween(ALL.size() / workers / 3, ALL.size()));
    }
  }

  @Test
  void aLoadThatIsGivenUpLeavesNothing() {
    InMemoryDataset dataset = inMemory().setThread(2).setPipeCommand("sleep 600").build();
    dataset.preloadIntoMemory();
    while (ProcessHandle.current().descendants().count() < 2) {
      Thread.onSpinWait();
    }
    dataset.close();
    InMemoryDataset failing = inMemory().setThread(2).setPipeCommand("exit 4").build();
    assertThatThrownBy(() -> failing.loadIntoMemory()).isInstanceOf(InvalidInput.class).hasMessageContaining("status 4");
    InMemoryDataset interrupted = inMemory().setPipeCommand("sleep 600").build();
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> interrupted.loadIntoMemory()).isInstanceOf(Cancelled.class);
    assertThat(Thread.interrupted()).isTrue();
    interrupted.close();
  }

  /** The JDK brings one other file system, that of zip files; S3's is a library of the user's. */
  @Test
  void filesMayBeOnAnyFileSystem() throws IOException {
    URI zip = URI.create("jar:" + dir.resolve("all.zip").toUri());
    try (FileSystem zipped = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
      for (Path file : files) {
        Files.copy(file, zipped.getPath("/" + file.getFileName()));
      }
      List<Path> there = files.stream().map(file -> DataFiles.path(zip + "!/" + file.getFileName())).toList();
      try (QueueDataset plain = queue().setFilelist(there).setThread(2).build();
          QueueDataset piped = queue().setFilelist(there).setPipeCommand("cat -").build();
          InMemoryDataset loaded = inMemory().setFilelist(there).build()) {
        loaded.loadIntoMemory();
        assertThat(pass(plain)).containsExactlyInAnyOrderElementsOf(ALL);
        assertThat(pass(piped)).isEqualTo(ALL);
        assertThat(pass(loaded)).isEqualTo(ALL);
      }
      Path bad = Files.writeString(zipped.getPath("/bad"), "rubbish");
      try (QueueDataset dataset = queue().setFilelist(List.of(bad)).build()) {
        assertThatThrownBy(() -> pass(dataset)).hasMessageContaining(zip + "!/bad, line 1");
      }
    }
    assertThat(DataFiles.path(files.get(0).toUri().toString())).isEqualTo(files.get(0));
    assertThat(DataFiles.path(dir, "part-00001")).isEqualTo(files.get(1));
    assertThatThrownBy(() -> DataFiles.path("hdfs://host/part-0")).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("hdfs://host/part-0", "no file system provider on the class path reads hdfs: files", "aws-java-nio-spi-for-s3");
  }

  @Test
  void filesAreDealtOutAsPaddleDoes() {
    List<String> seven = List.of("a", "b", "c", "d", "e", "f", "g");
    // get_file_shard: the first len % n workers get one more
    assertThat(DataFiles.shard(seven, 0, 3)).containsExactly("a", "b", "c");
    assertThat(DataFiles.shard(seven, 1, 3)).containsExactly("d", "e");
    assertThat(DataFiles.shard(seven, 2, 3)).containsExactly("f", "g");
    assertThat(DataFiles.shard(List.of("a"), 1, 2)).isEmpty();
    // v2 cluster guide: index modulo trainers
    assertThat(DataFiles.modulo(seven, 0, 3)).containsExactly("a", "d", "g");
    assertThat(DataFiles.modulo(seven, 1, 3)).containsExactly("b", "e");
    assertThat(DataFiles.modulo(seven, 2, 3)).containsExactly("c", "f");
    assertThatThrownBy(() -> DataFiles.modulo(seven, 3, 3)).isInstanceOf(InvalidInput.class);
  }
}
