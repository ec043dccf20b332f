package io.regatta.data.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.data.BadLines;
import io.regatta.data.file.LineBlocks;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import net.jpountz.xxhash.XXHashFactory;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PreparationTest {

  @TempDir
  Path dir;

  private static List<String> parts(Path to, int parts) throws IOException {
    List<String> all = new ArrayList<>();
    for (int part = 0; part < parts; part++) {
      all.add(Files.readString(to.resolve(String.format("t-%05d", part))));
    }
    return all;
  }

  private static int split(List<Path> files, Path to, int parts, int threads) {
    try (Preparation p = Preparations.split(files, new Preparation.Output(to, "t", parts, threads))) {
      return p.run(Progress.none());
    }
  }

  @Property(tries = 40)
  void thePartsTogetherAreTheLinesInTheirOrder(@ForAll @IntRange(min = 1, max = 3) int files,
      @ForAll @IntRange(min = 1, max = 9) int parts, @ForAll boolean longLines, @ForAll Random random) throws IOException {
    Path scratch = Files.createTempDirectory("parts");
    try {
      List<Path> inputs = new ArrayList<>();
      List<String> expected = new ArrayList<>();
      for (int f = 0; f < files; f++) {
        StringBuilder text = new StringBuilder();
        int lines = random.nextInt(20);
        for (int l = 0; l < lines; l++) {
          String line = "x".repeat(random.nextInt(longLines ? 100_000 : 12)) + l;
          line = random.nextInt(5) == 0 ? "" : line;
          boolean endless = l == lines - 1 && random.nextBoolean();
          text.append(line).append(endless ? "" : random.nextInt(4) == 0 ? "\r\n" : "\n");
          if (!endless || !line.isEmpty()) {
            expected.add(line);
          }
        }
        inputs.add(Files.writeString(scratch.resolve("in" + f), text));
      }
      Path to = scratch.resolve("out");
      assertThat(split(inputs, to, parts, 1 + random.nextInt(3))).isEqualTo(parts);
      List<String> lines = String.join("", parts(to, parts)).lines().toList();
      for (int i = 0; i < Math.max(lines.size(), expected.size()); i++) {
        String line = i < lines.size() ? lines.get(i) : "none";
        assertThat(i < expected.size() && line.equals(expected.get(i))).as("line %d, of %d characters", i, line.length()).isTrue();
      }
    } finally {
      try (Stream<Path> all = Files.walk(scratch)) {
        for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
  }

  /** All but what is hidden. */
  private static List<String> names(Path out) throws IOException {
    try (Stream<Path> there = Files.list(out)) {
      return there.map(path -> path.getFileName().toString()).filter(name -> !name.startsWith(".")).sorted().toList();
    }
  }

  private Path text(int lines) throws IOException {
    return Files.writeString(dir.resolve("text"), IntStream.range(0, lines).mapToObj(i -> "line " + i + "\n")
        .collect(Collectors.joining()));
  }

  @Test
  void partsAreOfAboutTheSameSize() throws IOException {
    split(List.of(text(10_000)), dir.resolve("out"), 7, 2);
    assertThat(parts(dir.resolve("out"), 7).stream().mapToInt(String::length)).as("98890 bytes in all")
        .allMatch(bytes -> Math.abs(bytes - 98890 / 7) < 20);
  }

  @Test
  void startedAgainItMakesWhatIsMissingAndRefusesWhatIsOfSomethingElse() throws IOException {
    Path text = text(1000);
    Path out = dir.resolve("out");
    assertThat(split(List.of(text), out, 4, 2)).isEqualTo(4);
    List<String> first = parts(out, 4);
    Files.delete(out.resolve("t-00002"));
    assertThat(split(List.of(text), out, 4, 2)).isEqualTo(1);
    assertThat(parts(out, 4)).isEqualTo(first);

    assertThatThrownBy(() -> split(List.of(text), out, 5, 2)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("another preparation").hasMessageContaining("--to");
    Path foreign = Files.createDirectory(dir.resolve("foreign"));
    Files.writeString(foreign.resolve("t-00000"), "somebody's");
    assertThatThrownBy(() -> split(List.of(text), foreign, 2, 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("t-00000 exists already");
    assertThat(Files.readString(foreign.resolve("t-00000"))).isEqualTo("somebody's");
  }

  /** One that was killed behind the unpacking, whose description somebody has removed to prepare another file of that name. */
  @Test
  void whatWasUnpackedOfAFormerFileIsNotTaken() throws IOException {
    Path out = Files.createDirectory(dir.resolve("out"));
    Files.writeString(out.resolve(".t.unpacked-00000"), "of yesterday\n");
    Path packed = dir.resolve("text.gz");
    try (OutputStream to = new GZIPOutputStream(Files.newOutputStream(packed))) {
      to.write("of today\n".getBytes(StandardCharsets.UTF_8));
    }
    split(List.of(packed), out, 1, 1);
    assertThat(parts(out, 1)).containsExactly("of today\n");
  }

  /** Parts of packed files are those of plain ones; the content is kept until they are there. */
  @Test
  void packedFilesAreUnpackedFirst() throws IOException {
    Path text = text(1000);
    Path packed = dir.resolve("text.gz");
    try (OutputStream to = new GZIPOutputStream(Files.newOutputStream(packed))) {
      Files.copy(text, to);
    }
    split(List.of(text, text), dir.resolve("plain"), 4, 2);
    Path out = dir.resolve("out");
    assertThat(split(List.of(text, packed), out, 4, 2)).isEqualTo(4);
    assertThat(parts(out, 4)).isEqualTo(parts(dir.resolve("plain"), 4));
    assertThat(split(List.of(text, packed), out, 4, 2)).isZero();
    try (Stream<Path> all = Files.list(out)) {
      assertThat(all.map(p -> p.getFileName().toString())).noneMatch(name -> name.contains("unpacked"));
    }
    assertThat(Preparation.Output.nameOf(packed)).isEqualTo("text");

    Path cut = Files.write(dir.resolve("cut.gz"), Arrays.copyOf(Files.readAllBytes(packed), 500));
    assertThatThrownBy(() -> split(List.of(cut), dir.resolve("none"), 2, 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("cut.gz cannot be decompressed");
    Path bad = dir.resolve("bad.gz");
    try (OutputStream to = new GZIPOutputStream(Files.newOutputStream(bad))) {
      to.write("no line of Criteo's\n".getBytes(StandardCharsets.US_ASCII));
    }
    assertThatThrownBy(() -> criteo(bad, dir.resolve("bad"), 1, new BadLines(BadLines.Policy.FAIL)))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("bad.gz, line 1");
  }

  @Test
  void stoppedInItsMiddleItLeavesWholePartsOnlyAndGoesOnLater() throws IOException {
    Path text = text(1000);
    Path out = dir.resolve("out");
    Preparation.Output output = new Preparation.Output(out, "t", 4, 1);
    Preparation[] self = new Preparation[1];
    self[0] = new Preparation("split", Map.of(), List.of(text), output, (pieces, to, read) -> {
      if (Files.exists(out.resolve("t-00001"))) {
        self[0].close();
      }
      try (PieceReader reader = new PieceReader(pieces.get(0))) {
        LineBlocks lines = reader.lines();
        while (reader.next()) {
          to.write(lines.block(), lines.from(), lines.to() - lines.from());
          to.write('\n');
          read.done(1);
        }
      }
    });
    assertThatThrownBy(() -> self[0].run(Progress.none())).isInstanceOf(Cancelled.class)
        .hasMessageContaining("start it again");
    assertThat(names(out)).containsExactly("t-00000", "t-00001", "t.parts.json");
    assertThat(split(List.of(text), out, 4, 2)).isEqualTo(2);
    assertThat(String.join("", parts(out, 4))).isEqualTo(Files.readString(text));
  }

  @Test
  void twoAtATimeDoNotMakeTheSameParts() throws IOException {
    Path text = text(100);
    Preparation.Output output = new Preparation.Output(dir.resolve("out"), "t", 1, 1);
    try (Preparation first = new Preparation("split", Map.of(), List.of(text), output, (pieces, to, read) ->
        assertThatThrownBy(() -> split(List.of(text), dir.resolve("out"), 1, 1)).isInstanceOf(InvalidInput.class)
            .hasMessageContaining("already"))) {
      assertThat(first.run(Progress.none())).isEqualTo(1);
      assertThat(first.ended().toCompletableFuture()).isDone();
    }
    assertThat(names(dir.resolve("out"))).containsExactly("t-00000", "t.parts.json");
  }

  private static String criteo(String label, String dense, String category) {
    return label + ("\t" + dense).repeat(13) + ("\t" + category).repeat(26);
  }

  @Test
  void criteoLinesBecomeTextOfSlots() throws IOException {
    Path in = Files.writeString(dir.resolve("in"), criteo("1", "5", "ab") + "\n" + criteo("0", "", "") + "\n");
    BadLines fail = new BadLines(BadLines.Policy.FAIL);
    for (Preparations.Format format : Preparations.Format.values()) {
      Path out = dir.resolve(format.name());
      try (Preparation p = Preparations.criteo(List.of(in), new Preparation.Output(out, "t", 1, 1), 1000, format, fail)) {
        p.run(Progress.none());
      }
      String[] lines = parts(out, 1).get(0).split("\n");
      assertThat(lines).hasSize(2);
      String[] fields = lines[0].split(" ");
      // (5 - min) / difference of I1 and I2; ids of columns 14 and 39
      if (format == Preparations.Format.MULTISLOT) {
        assertThat(fields).hasSize(14 + 26 * 2 + 2).startsWith("13", "0.25", String.valueOf(8f / 603)).endsWith("1", "1");
        assertThat(fields[15]).isEqualTo(id(14, "ab"));
        assertThat(fields[14 + 25 * 2 + 1]).isEqualTo(id(39, "ab"));
      } else {
        assertThat(fields).hasSize(1 + 13 + 26).startsWith("click:1", "dense_feature:0.25",
            "dense_feature:" + 8f / 603).contains("1:" + id(14, "ab")).endsWith("26:" + id(39, "ab"));
      }
      assertThat(lines[1]).contains(id(14, "")).contains("0.0");
    }
  }

  private static String id(int column, String value) {
    byte[] key = (column + value).getBytes(StandardCharsets.US_ASCII);
    int hash = XXHashFactory.safeInstance().hash32().hash(key, 0, key.length, 0);
    return String.valueOf(Integer.toUnsignedLong(hash) % 1000);
  }

  @Test
  void aBadLineIsNamedOrLeftOut() throws IOException {
    Path in = Files.writeString(dir.resolve("in"), criteo("1", "5", "ab") + "\n" + criteo("2", "5", "ab") + "\n");
    assertThatThrownBy(() -> criteo(in, dir.resolve("a"), 1, new BadLines(BadLines.Policy.FAIL)))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("in, line 2, column 1 (label)");
    BadLines skip = new BadLines(BadLines.Policy.SKIP);
    criteo(in, dir.resolve("b"), 1, skip);
    assertThat(parts(dir.resolve("b"), 1).get(0).lines()).hasSize(1);
    assertThat(skip.skipped()).isEqualTo(1);
  }

  private static void criteo(Path in, Path to, int parts, BadLines badLines) {
    try (Preparation p = Preparations.criteo(List.of(in), new Preparation.Output(to, "t", parts, 1), 1000,
        Preparations.Format.SLOTS, badLines)) {
      p.run(Progress.none());
    }
  }

  /** Lines have many lengths, also 0, in compressed and in plain files, which are split into many parts. */
  @Property(tries = 30)
  void aBadLineHasItsNumberInTheFileWhicheverPartItIsIn(@ForAll @IntRange(min = 1, max = 9) int parts,
      @ForAll @IntRange(min = 1, max = 60) int bad, @ForAll boolean packed, @ForAll Random random) throws IOException {
    Path scratch = Files.createTempDirectory("bad-line");
    try {
      StringBuilder text = new StringBuilder();
      for (int line = 1; line <= 60; line++) {
        String good = random.nextInt(5) == 0 ? "" : criteo("1", "5", "v".repeat(random.nextInt(9)));
        text.append(line == bad ? criteo("2", "5", "v") : good).append(random.nextBoolean() ? "\n" : "\r\n");
      }
      Path in = scratch.resolve(packed ? "in.gz" : "in");
      try (OutputStream to = packed ? new GZIPOutputStream(Files.newOutputStream(in)) : Files.newOutputStream(in)) {
        to.write(text.toString().getBytes(StandardCharsets.US_ASCII));
      }
      assertThatThrownBy(() -> criteo(in, scratch.resolve("out"), parts, BadLines.ofCommand(BadLines.Policy.FAIL, "skip")))
          .isInstanceOf(InvalidInput.class).hasMessageStartingWith(in + ", line " + bad + ", column 1 (label): ");
      boolean first = !Files.exists(scratch.resolve("out").resolve("t-00000"));
      if (first) {
        assertThat(names(scratch.resolve("out"))).as("nothing is left").isEmpty();
      }
      BadLines skip = new BadLines(BadLines.Policy.SKIP, false);
      criteo(in, scratch.resolve("out"), parts, skip);
      assertThat(skip.skipped()).isEqualTo(1);
      assertThat(String.join("", parts(scratch.resolve("out"), parts)).lines())
          .hasSize((int) text.toString().lines().filter(line -> line.startsWith("1")).count());
    } finally {
      try (Stream<Path> all = Files.walk(scratch)) {
        for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
  }

  /** The user mends the file, and starts the same command again. */
  @Test
  void whatEndedAtABadLineIsNotInTheWayOfTheMendedFile() throws IOException {
    String good = criteo("1", "5", "ab") + "\n";
    Path in = Files.writeString(dir.resolve("in"), "no line of Criteo's\n" + good.repeat(40));
    Path out = dir.resolve("out");
    BadLines fail = BadLines.ofCommand(BadLines.Policy.FAIL, "skip");
    assertThatThrownBy(() -> criteo(in, out, 2, fail)).isInstanceOf(InvalidInput.class).hasMessageContaining("in, line 1, ");
    assertThat(names(out)).isEmpty();
    Files.writeString(in, good.repeat(40) + "no line of Criteo's\n");
    assertThatThrownBy(() -> criteo(in, out, 2, fail)).isInstanceOf(InvalidInput.class).hasMessageContaining("in, line 41, ")
        .hasMessageContaining("1 of 2 parts are made").hasMessageContaining("remove t-* and t.parts.json in " + out);
    assertThat(names(out)).containsExactly("t-00000", "t.parts.json");
    Files.delete(out.resolve("t-00000"));
    Files.delete(out.resolve("t.parts.json"));
    Files.writeString(in, good.repeat(40));
    criteo(in, out, 2, fail);
    assertThat(String.join("", parts(out, 2)).lines()).hasSize(40);
  }
}
