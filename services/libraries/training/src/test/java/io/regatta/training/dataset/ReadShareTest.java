package io.regatta.training.dataset;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.FileSource;
import io.regatta.data.LoaderOptions;
import io.regatta.data.Slots;
import io.regatta.data.TextSource;
import io.regatta.data.file.PipeCommand;
import io.regatta.data.format.CsvSource;
import io.regatta.data.format.MultiSlotFormat;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How much of a pass is done, of files whose examples nobody has counted. */
class ReadShareTest {

  private static final int FILES = 20;
  private static final int LINES = 10;
  private static final Slots SLOTS = Slots.builder().dense("x", 1).label("y").build();

  @TempDir
  Path dir;

  private FileSource<?> source(String kind) throws IOException {
    List<Path> files = new ArrayList<>();
    for (int f = 0; f < FILES; f++) {
      boolean packed = kind.equals("packed");
      Path file = dir.resolve("part-" + f + (packed ? ".gz" : ""));
      String lines = (kind.equals("csv") ? "x,y\n" : "") + (kind.equals("csv") ? "1,0\n" : "1 1 1 0\n").repeat(LINES);
      try (OutputStream out = packed ? new GZIPOutputStream(Files.newOutputStream(file)) : Files.newOutputStream(file)) {
        out.write(lines.getBytes(StandardCharsets.US_ASCII));
      }
      files.add(file);
    }
    BadLines none = new BadLines(BadLines.Policy.FAIL);
    return kind.equals("csv") ? new CsvSource(SLOTS, files, none)
        : new TextSource(new MultiSlotFormat(SLOTS), files, PipeCommand.of(kind.equals("piped") ? "sed s,x,x," : ""), none);
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "packed", "csv", "piped"})
  void itGrowsWithTheFilesThatAreBehind(String kind) throws IOException {
    try (NDManager manager = NDManager.newBaseManager();
        SlotDataset data = new SlotDataset(source(kind), LoaderOptions.inOrder(LINES).readers(1, 1, true))) {
      assertThat(data.readOf(2)).isNaN();
      Iterator<Batch> batches = data.getData(manager).iterator();
      DataCursor half = null;
      for (int read = 1; batches.hasNext(); read++) {
        try (Batch batch = batches.next()) {
          double ahead = 4;
          assertThat(data.readOfPass()).isBetween((read - 1.0) / FILES, Math.min(1, (read + ahead) / FILES));
          half = read == FILES / 2 ? ((BatchWithIds) batch).after() : half;
        }
      }
      assertThat(data.readOfPass()).isEqualTo(1);
      assertThat(data.readOf(2)).isEqualTo(0.5);
      data.resume(half);
      assertThat(data.getData(manager).iterator().hasNext()).isTrue();
      assertThat(data.readOfPass()).isBetween(0.45, 0.75);
    }
  }
}
