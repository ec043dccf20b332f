package io.regatta.training.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotLoader;
import io.regatta.data.Slots;
import io.regatta.data.TextSource;
import io.regatta.data.file.PipeCommand;
import io.regatta.data.format.MultiSlotFormat;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that go through a command of the shell, and what is left of it when it fails or is cancelled: nothing. */
@Timeout(30)
class PipeCommandTest {

  private static final Slots SLOTS = Slots.builder().id("id").label("label").build();

  @TempDir
  Path dir;

  @AfterEach
  void nothingIsLeft() {
    assertThat(ProcessHandle.current().descendants()).isEmpty();
    assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
        .noneMatch(name -> name.startsWith("regatta-pipe") || name.startsWith("regatta-read-multislot"));
  }

  @Test
  void aCommandTurnsFilesIntoLines() throws Exception {
    Path plain = Files.writeString(dir.resolve("a.csv"), "7,1\n8,0\n");
    Path packed = dir.resolve("b.csv.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
      out.write("9,1\n".getBytes(StandardCharsets.US_ASCII));
    }
    assertThat(ids("tr , ' ' | sed 's/^/1 /; s/ \\([0-9]*\\)$/ 1 \\1/'", plain, packed)).containsExactly(7L, 8L, 9L);
  }

  @Test
  void aFailureTellsStatusStderrFileAndLines() throws Exception {
    Path file = Files.writeString(dir.resolve("a.txt"), "1 7 1 1\n1 8 1 1\n");
    assertThatThrownBy(() -> ids("head -n 1; echo first >&2; echo 'Traceback: no module xxhash' >&2; exit 3", file))
        .isInstanceOf(InvalidInput.class).hasMessageContainingAll(file.toString(), "ended with status 3 after 1 lines",
            "its stderr ends with: first; Traceback: no module xxhash", "< " + file);
    assertThatThrownBy(() -> ids("printf '1 7 1 1\\n1 8'; kill -9 $$", file)).as("not the line that was cut short")
        .isInstanceOf(InvalidInput.class).hasMessageContaining("was killed by signal 9 after 1 lines");
    assertThatThrownBy(() -> ids("no-such-command", file)).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("ended with status 127", "no-such-command");
  }

  @Test
  void aBadLineTellsFileCommandAndLine() throws Exception {
    Path file = Files.writeString(dir.resolve("a.txt"), "1 7 1 1\n1 x 1 1\n");
    assertThatThrownBy(() -> ids("cat -", file)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(file + " (through 'cat -'), line 2, character 3 (slot id): expected an id")
        .hasMessageContaining("Fix the line").hasMessageNotContaining("data.format");
  }

  @Test
  void whereNoLineHasBeenGoodTheFormatIsDoubtedFirst() throws Exception {
    Path file = Files.writeString(dir.resolve("a.txt"), "id:7 label:1\nid:8 label:0\n");
    assertThatThrownBy(() -> ids("cat -", file)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("line 1").hasMessageContaining("No line so far is in the format multislot, and this one looks like slots: "
            + "check that data.format (multislot by default after a pipe_command) names their format; else "
            + "fix the line, or skip such lines");
  }

  @Test
  void longComplaintsDoNotBlockAndTheirEndIsKept() throws Exception {
    Path file = Files.writeString(dir.resolve("a.txt"), "");
    assertThatThrownBy(() -> ids("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done >&2; exit 1", file))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("line 19999")
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(6000));
  }

  @Test
  void closingKillsTheCommandAndWhatItHasStarted() throws Exception {
    Path file = Files.writeString(dir.resolve("a.txt"), "");
    TextSource source = source("echo 1 7 1 1; yes '1 8 1 1' | sed -u 's/8/9/'; sleep 600", file);
    SlotLoader loader = SlotLoader.open(source, LoaderOptions.inOrder(1), 0);
    assertThat(loader.next().ids()[0]).isEqualTo(7);
    loader.close();
  }

  @Test
  void closingReleasesAReaderThatWaitsForTheCommand() throws Exception {
    Path file = Files.writeString(dir.resolve("a.txt"), "");
    SlotLoader loader = SlotLoader.open(source("sleep 600 | cat", file), LoaderOptions.inOrder(1), 0);
    CompletableFuture<SlotBatch> waiting = CompletableFuture.supplyAsync(loader::next, task -> new Thread(task).start());
    while (ProcessHandle.current().descendants().count() < 2) {
      Thread.onSpinWait();
    }
    loader.close();
    nothingIsLeft(); // else it has given the reader up
    assertThat(waiting).failsWithin(Duration.ofSeconds(20)).withThrowableThat().havingRootCause().isInstanceOf(Cancelled.class);
  }

  /**
   * The JDK throws an unchecked exception for a zip file that is closed, as libraries for other file systems do.
   */
  @Test
  void aFileThatFailsEndsTheLoadingOfAll() throws Exception {
    Path bad = Files.writeString(dir.resolve("a.txt"), "bad\n");
    Path silent = Files.writeString(dir.resolve("b.txt"), "silent\n");
    try (InMemoryDataset data = new InMemoryDataset(source("read x; [ $x = silent ] && exec sleep 600; exit 3", bad, silent),
        LoaderOptions.inOrder(1), 2)) {
      assertThatThrownBy(() -> data.loadIntoMemory()).isInstanceOf(InvalidInput.class)
          .hasMessageContainingAll("a.txt", "ended with status 3");
    }
  }

  @Test
  void aListenerThatThrowsEndsTheLoading() throws Exception {
    Path file = Files.writeString(dir.resolve("a.txt"), "");
    try (InMemoryDataset data = new InMemoryDataset(source("exec sleep 600", file), LoaderOptions.inOrder(1), 1)) {
      assertThatThrownBy(() -> data.loadIntoMemory((bytes, all) -> {
        throw new IllegalStateException("the display is gone");
      })).hasMessage("the display is gone");
    }
  }

  private static TextSource source(String command, Path... files) {
    return new TextSource(new MultiSlotFormat(SLOTS), List.of(files), PipeCommand.of(command), new BadLines(BadLines.Policy.FAIL));
  }

  private static List<Long> ids(String command, Path... files) {
    try (SlotLoader loader = SlotLoader.open(source(command, files), LoaderOptions.inOrder(100), 0)) {
      SlotBatch batch = loader.next();
      assertThat(loader.hasNext()).isFalse();
      return Arrays.stream(batch.ids()).limit(batch.rows()).boxed().toList();
    }
  }
}
