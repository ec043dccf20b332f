package io.regatta.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.Sharding;
import io.regatta.snapshot.safetensors.SafetensorsWriter;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SnapshotFilesTest {

  @TempDir
  Path dir;

  private static void assertSame(WrittenSnapshot actual, WrittenSnapshot expected) {
    assertThat(actual).usingRecursiveComparison().isEqualTo(expected);
  }

  /** The oracle is the tables in memory. */
  @Property(tries = 10)
  void files_for_any_number_of_shards_hold_identical_tables(@ForAll long seed, @ForAll @IntRange(min = 1, max = 9) int n,
      @ForAll @IntRange(min = 1, max = 9) int m) throws IOException {
    Path root = Files.createTempDirectory("reshard");
    try {
      WrittenSnapshot parameters = WrittenSnapshot.random(seed, 300);
      parameters.write(root.resolve("n"), n);
      assertSame(WrittenSnapshot.read(root.resolve("n")), parameters);
      SnapshotRewrite.snapshot(root.resolve("n"), root.resolve("m"), m);
      assertThat(Manifest.read(root.resolve("m")).files()).hasSize(m);
      assertSame(WrittenSnapshot.read(root.resolve("m")), parameters);
      try (SnapshotReader in = SnapshotReader.open(root.resolve("m"))) { // each file has its own shard's
        long[] rows = new long[1];
        for (int shard = 0; shard < m; shard++) {
          in.rowsOf(WrittenSnapshot.EMB, shard, Sharding.common(m), (ids, floats, count) -> rows[0] += count);
        }
        assertThat(rows[0]).isEqualTo(parameters.tables.get(WrittenSnapshot.EMB.name()).size());
      }
    } finally {
      try (Stream<Path> all = Files.walk(root)) {
        for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
  }

  /** Both ways, and between two that keep them apart otherwise; the oracle is the tables in memory. */
  @Test
  void files_of_shards_for_dense_parts_and_for_rows_are_read_by_any_others() throws IOException {
    WrittenSnapshot parameters = WrittenSnapshot.random(3, 300);
    List<Sharding> all = List.of(new Sharding(6, 3, 2), new Sharding(6, 2, 1), Sharding.common(6), Sharding.common(1));
    for (int i = 0; i < all.size(); i++) {
      Path written = dir.resolve("s" + i);
      parameters.write(written, all.get(i));
      assertThat(Manifest.read(written).model().sharding()).isEqualTo(all.get(i));
      assertThat(ManifestFile.read(written).containsKey("sparse_shards")).isEqualTo(i < 2);
      assertSame(WrittenSnapshot.read(written), parameters);
      try (SnapshotReader in = SnapshotReader.open(written)) {
        for (Sharding other : all) {
          long[] rows = new long[1];
          for (int shard = 0; shard < other.shards(); shard++) {
            in.check(shard, in.manifest().model().over(other));
            in.rowsOf(WrittenSnapshot.EMB, shard, other, (ids, floats, count) -> rows[0] += count);
          }
          assertThat(rows[0]).as("%s for %s", all.get(i), other).isEqualTo(300);
        }
      }
    }
    SnapshotRewrite.snapshot(dir.resolve("s0"), dir.resolve("common"), 6);
    assertThat(Manifest.read(dir.resolve("common")).model().sharding()).isEqualTo(Sharding.common(6));
    assertSame(WrittenSnapshot.read(dir.resolve("common")), parameters);
    SnapshotRewrite.snapshot(dir.resolve("s0"), dir.resolve("same"), 0);
    assertThat(Manifest.read(dir.resolve("same")).model().sharding()).isEqualTo(all.get(0));
    assertSame(WrittenSnapshot.read(dir.resolve("same")), parameters);
  }

  @Test
  void a_flipped_byte_in_any_file_is_found_and_named() throws IOException {
    Path snapshot = dir.resolve("s");
    WrittenSnapshot.random(3, 50).write(snapshot, 2);
    Random random = new Random(5);
    List<String> files = List.of(ManifestFile.NAME, ShardFileWriter.name(0, 2), ShardFileWriter.name(1, 2));
    for (int i = 0; i < 150; i++) {
      Path file = snapshot.resolve(files.get(i % 3));
      byte[] bytes = Files.readAllBytes(file);
      int at = i < 30 ? i : random.nextInt(bytes.length);
      byte[] flipped = bytes.clone();
      flipped[at] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, flipped);
      assertThatThrownBy(() -> SnapshotDirectory.verify(snapshot)).as("byte %d of %s", at, file)
          .isInstanceOf(InvalidInput.class).hasMessageContaining(file.toString()).hasMessageContaining("damaged");
      Files.write(file, bytes);
    }
    SnapshotDirectory.verify(snapshot);
  }

  /** Also in what a delta is relative to, and outside of the tensors. */
  @Test
  void a_flipped_byte_is_not_rewritten_under_new_checksums() throws IOException {
    WrittenSnapshot.random(1, 50).write(dir.resolve("base"), 2, SnapshotKind.BASE, "", 100, Map.of());
    WrittenSnapshot.random(2, 20).write(dir.resolve("delta"), 2, SnapshotKind.DELTA, "base", 200, Map.of());
    Path file = dir.resolve("base").resolve(ShardFileWriter.name(1, 2));
    byte[] whole = Files.readAllBytes(file);
    for (int at : new int[] {whole.length - 1, new String(whole, StandardCharsets.ISO_8859_1).indexOf("crc32c")}) {
      byte[] flipped = whole.clone();
      flipped[at] ^= 1;
      Files.write(file, flipped);
      for (ThrowingCallable rewrite : List.<ThrowingCallable>of(
          () -> SnapshotRewrite.snapshot(dir.resolve("delta"), dir.resolve("merged"), 0),
          () -> SnapshotRewrite.snapshot(dir.resolve("base"), dir.resolve("resharded"), 3),
          () -> SnapshotRewrite.model(dir.resolve("delta"), dir.resolve("exported")))) {
        assertThatThrownBy(rewrite).isInstanceOf(InvalidInput.class).hasMessageContaining(file.toString())
            .hasMessageContaining("damaged");
      }
      try (Stream<Path> entries = Files.list(dir)) {
        assertThat(entries).as("nothing is written").hasSize(2);
      }
    }
    try (SnapshotReader in = SnapshotReader.open(dir.resolve("delta"))) {
      in.verifySince(Snapshots.Found.in(dir.resolve("base"))); // which whoever has it has compared
      assertThatThrownBy(in::verify).isInstanceOf(InvalidInput.class).hasMessageContaining(file.toString());
    }
  }

  @Test
  void the_damaged_tensor_and_a_cut_or_missing_file_are_named() throws IOException {
    Path snapshot = dir.resolve("s");
    WrittenSnapshot.random(3, 50).write(snapshot, 2);
    Path file = snapshot.resolve(ShardFileWriter.name(1, 2));
    byte[] bytes = Files.readAllBytes(file);
    byte[] changed = bytes.clone();
    changed[bytes.length - 1]++; // the last tensor is the last table's values
    Files.write(file, changed);
    assertThatThrownBy(() -> SnapshotDirectory.verify(snapshot)).hasMessageContaining("in tensor table/wide/values");
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 1));
    assertThatThrownBy(() -> SnapshotDirectory.verify(snapshot)).hasMessageContaining(file + " has").hasMessageContaining("cut");
    assertThatThrownBy(() -> SnapshotReader.open(snapshot)).isInstanceOf(InvalidInput.class).hasMessageContaining(file.toString());
    Files.delete(file);
    assertThatThrownBy(() -> SnapshotDirectory.verify(snapshot)).hasMessageContaining(file + " is missing");
  }

  @Test
  void a_chain_of_deltas_is_read_and_merged_as_one() throws IOException {
    WrittenSnapshot base = WrittenSnapshot.random(1, 200);
    base.write(dir.resolve("base"), 3, SnapshotKind.BASE, "", 100, Map.of());
    WrittenSnapshot first = WrittenSnapshot.random(2, 20);
    String emb = WrittenSnapshot.EMB.name();
    List<Long> known = List.copyOf(base.tables.get(emb).keySet());
    first.tables.get(emb).put(known.get(7), new float[WrittenSnapshot.EMB.width()]);
    first.write(dir.resolve("first"), 3, SnapshotKind.DELTA, "base", 200, Map.of(emb, new TreeSet<>(known.subList(50, 90))));
    WrittenSnapshot second = WrittenSnapshot.random(4, 5);
    second.tables.get(emb).put(known.get(60), new float[WrittenSnapshot.EMB.width()]); // born again
    second.write(dir.resolve("second"), 3, SnapshotKind.DELTA, "first", 300, Map.of());

    WrittenSnapshot expected = base;
    expected.tables.get(emb).keySet().removeAll(known.subList(50, 90));
    for (WrittenSnapshot delta : List.of(first, second)) {
      delta.tables.forEach((table, rows) -> expected.tables.get(table).putAll(rows));
      expected.dense.clear();
      expected.dense.addAll(delta.dense);
    }
    assertSame(WrittenSnapshot.read(dir.resolve("second")), expected);
    SnapshotRewrite.snapshot(dir.resolve("second"), dir.resolve("merged"), 0);
    assertThat(Manifest.read(dir.resolve("merged")).kind()).isEqualTo(SnapshotKind.FULL);
    assertThat(Manifest.read(dir.resolve("merged")).step()).isEqualTo(300);
    assertSame(WrittenSnapshot.read(dir.resolve("merged")), expected);
    Snapshots.retain(dir, base.run, 1); // of the last one's chain nothing can go
    assertThat(Snapshots.list(dir).stream().map(f -> f.dir().getFileName().toString()))
        .as("a whole one counts with whole ones").containsExactly("base", "first", "merged", "second");
  }

  /**
   * A writer killed at any point before the last rename leaves the former snapshot, and no other directory that
   * resembles one.
   */
  @Test
  void what_was_not_written_to_its_end_is_no_snapshot() throws IOException {
    WrittenSnapshot former = WrittenSnapshot.random(1, 50);
    former.write(dir.resolve("pass-00000"), 2);
    WrittenSnapshot next = WrittenSnapshot.random(2, 50);
    next.write(dir.resolve("pass-00001"), 2, SnapshotKind.FULL, "", 600, Map.of());
    Path part = dir.resolve("pass-00001.new.part");
    Files.move(dir.resolve("pass-00001"), part); // all but the last rename
    assertLatestIs(former);
    Files.delete(part.resolve(ManifestFile.NAME)); // before the manifest
    assertLatestIs(former);
    Path data = part.resolve(ShardFileWriter.name(1, 2));
    Files.write(data, Arrays.copyOf(Files.readAllBytes(data), 1000)); // in the midst of a file
    assertLatestIs(former);
    next.write(dir.resolve("pass-00001"), 2, SnapshotKind.FULL, "", 600, Map.of()); // the next attempt is not in its way
    assertLatestIs(next);
    assertThat(part).doesNotExist();
    Snapshots.retain(dir, next.run, 1);
    assertThat(Snapshots.list(dir)).hasSize(1);
    assertLatestIs(next);
  }

  @Test
  void what_killed_writers_have_left_is_removed_and_what_the_living_write_is_not() throws IOException {
    String run = "00000000000000a1";
    Path own = SnapshotDirectory.of(dir.resolve("step-000000010"), run + "-rank0-7").begin().part();
    Path living = SnapshotDirectory.of(dir.resolve("step-000000020"), "00000000000000b2-rank1--7").begin().part();
    Path old = SnapshotDirectory.of(dir.resolve("step-000000030"), "00000000000000c3-rank0-7").begin().part();
    Path model = dir.resolve("dense.safetensors.rank1.part");
    Path users = dir.resolve("download.part");
    FileTime before = FileTime.from(Instant.now().minus(Duration.ofHours(2)));
    for (Path path : List.of(Files.writeString(own.resolve("x"), "x"), Files.writeString(living.resolve("x"), "x"))) {
      assertThat(path).exists(); // just now
    }
    for (Path path : List.of(Files.writeString(old.resolve("x"), "x"), old, Files.writeString(model, "x"),
        Files.writeString(users, "x"), living)) {
      Files.setLastModifiedTime(path, before);
    }
    SnapshotRemoval.left(dir, run);
    try (Stream<Path> entries = Files.list(dir)) {
      assertThat(entries).containsExactlyInAnyOrder(living, users);
    }
    SnapshotRemoval.left(dir.resolve("nothing"), run);
  }

  /**
   * A removed snapshot is never visible in part, and a process killed while removing leaves what the next start
   * removes.
   */
  @Test
  void what_was_not_removed_to_its_end_is_removed_at_the_next_start() throws IOException {
    WrittenSnapshot parameters = WrittenSnapshot.random(1, 5);
    parameters.write(dir.resolve("step-1"), 1, SnapshotKind.FULL, "", 1, Map.of());
    parameters.write(dir.resolve("step-2"), 1, SnapshotKind.FULL, "", 2, Map.of());
    Path replaced = dir.resolve("step-2.replaced"); // of one killed behind both renames
    parameters.write(replaced, 1, SnapshotKind.FULL, "", 2, Map.of());
    Path users = Files.createDirectories(dir.resolve("notes.replaced"));
    Path removed = dir.resolve("step-1." + parameters.run + "-removed.part");
    Files.move(dir.resolve("step-1"), removed);
    Files.delete(removed.resolve(ManifestFile.NAME));
    SnapshotRemoval.left(dir, parameters.run);
    assertThat(removed).doesNotExist();
    assertThat(replaced).as("somebody may be removing it").exists();
    try (Stream<Path> all = Files.walk(replaced)) {
      for (Path path : all.toList()) {
        Files.setLastModifiedTime(path, FileTime.from(Instant.now().minus(Duration.ofHours(2))));
      }
    }
    SnapshotRemoval.left(dir, "");
    try (Stream<Path> entries = Files.list(dir)) {
      assertThat(entries).containsExactlyInAnyOrder(dir.resolve("step-2"), users);
    }
  }

  /**
   * Through a link the order of events is visible: the name goes first, and no directory of that name is there in part.
   */
  @Test
  void what_is_no_longer_kept_loses_its_name_first() throws IOException {
    WrittenSnapshot parameters = WrittenSnapshot.random(1, 5);
    Path elsewhere = Files.createDirectory(dir.resolve("elsewhere")).resolve("s");
    parameters.write(elsewhere, 1, SnapshotKind.FULL, "", 1, Map.of());
    Path link = Files.createSymbolicLink(dir.resolve("step-1"), elsewhere);
    parameters.write(dir.resolve("step-2"), 1, SnapshotKind.FULL, "", 2, Map.of());
    Snapshots.retain(dir, parameters.run, 1);
    assertThat(Files.exists(link, LinkOption.NOFOLLOW_LINKS)).isFalse();
    SnapshotDirectory.verify(elsewhere);
  }

  @Test
  void files_without_their_manifest_are_among_what_is_looked_at() throws IOException {
    WrittenSnapshot parameters = WrittenSnapshot.random(1, 5);
    parameters.write(dir.resolve("step-1"), 2, SnapshotKind.FULL, "", 1, Map.of());
    parameters.write(dir.resolve("step-2"), 1, SnapshotKind.FULL, "", 2, Map.of());
    Files.delete(dir.resolve("step-1").resolve(ManifestFile.NAME));
    Files.writeString(Files.createDirectory(dir.resolve("model")).resolve(ModelFiles.DENSE), "x");
    Files.writeString(Files.createDirectory(dir.resolve("others")).resolve("model.safetensors"), "x");
    SnapshotDirectory.of(dir.resolve("step-3")).begin();
    assertThat(Snapshots.all(dir)).containsExactly(dir.resolve("model"), dir.resolve("step-1"), dir.resolve("step-2"));
  }

  /** A writer that dies between the two renames of a replacement leaves the former snapshot under another name. */
  @Test
  void one_that_was_being_replaced_is_still_there() throws IOException {
    WrittenSnapshot former = WrittenSnapshot.random(1, 50);
    former.write(dir.resolve("s"), 2);
    Files.move(dir.resolve("s"), dir.resolve("s.replaced"));
    assertLatestIs(former);
    WrittenSnapshot next = WrittenSnapshot.random(2, 50);
    next.write(dir.resolve("s"), 2);
    assertLatestIs(next);
    assertThat(dir.resolve("s.replaced")).doesNotExist();
  }

  @Test
  void the_latest_is_of_the_run_that_began_last() throws IOException {
    WrittenSnapshot yesterday = WrittenSnapshot.random(1, 50);
    yesterday.write(dir.resolve("day1/step-300"), 2, SnapshotKind.FULL, "", 300, Map.of());
    WrittenSnapshot today = WrittenSnapshot.random(2, 50);
    today.run = "00000000000000b2"; // later than that of the other
    today.write(dir.resolve("day2/step-010"), 2, SnapshotKind.FULL, "", 10, Map.of());
    ManifestFile.write(dir.resolve("day2").resolve(ManifestFile.NAME), new JsonObject().put("kind", "model")); // the job's output
    assertThat(Snapshots.latest(dir)).isEmpty();
    assertThat(Snapshots.within(dir, skipped -> {})).extracting(Snapshots.Found::dir)
        .containsExactly(dir.resolve("day2/step-010"), dir.resolve("day1/step-300"));
    yesterday.write(dir.resolve("step-400"), 2, SnapshotKind.FULL, "", 400, Map.of()); // it goes on
    assertThat(Snapshots.within(dir, skipped -> {}).get(0).manifest().step()).isEqualTo(10);
  }

  @Test
  void runs_are_not_mixed() throws IOException {
    WrittenSnapshot old = WrittenSnapshot.random(1, 50);
    old.write(dir.resolve("step-100"), 2, SnapshotKind.BASE, "", 100, Map.of());
    old.write(dir.resolve("step-200"), 2, SnapshotKind.DELTA, "step-100", 200, Map.of());
    Snapshots.Found taken = Snapshots.Found.in(dir.resolve("step-100"));
    WrittenSnapshot other = WrittenSnapshot.random(2, 50);
    other.run = "00000000000000b2";
    other.write(dir.resolve("step-050"), 2, SnapshotKind.FULL, "", 50, Map.of());
    Snapshots.retain(dir, other.run, 1);
    assertThat(Snapshots.list(dir)).hasSize(3);
    try (SnapshotReader in = SnapshotReader.open(dir.resolve("step-200"))) {
      assertThat(in.follows(taken)).isTrue();
      assertThat(in.follows(new Snapshots.Found(taken.directory(), taken.manifest(), "12345678", true))).isFalse();
    }
    old.write(dir.resolve("step-100"), 2, SnapshotKind.BASE, "", 101, Map.of()); // another life of the same run
    assertThatThrownBy(() -> SnapshotReader.open(dir.resolve("step-200"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("step-100 is not what it is relative to");
    Snapshots.retain(dir, old.run, 1);
    assertThat(Snapshots.list(dir)).hasSize(2);
  }

  /** A job with every_steps and every_pass: the last step of a pass is the end of the pass, which has all of it. */
  @Test
  void one_behind_a_pass_counts_once_with_the_one_after_its_last_step() throws IOException {
    WrittenSnapshot within = WrittenSnapshot.random(1, 5);
    WrittenSnapshot behind = WrittenSnapshot.random(1, 5);
    behind.pass = 0;
    within.write(dir.resolve("step-025"), 1, SnapshotKind.FULL, "", 25, Map.of());
    within.write(dir.resolve("step-050"), 1, SnapshotKind.FULL, "", 50, Map.of());
    Snapshots.retain(dir, within.run, 2);
    assertThat(names()).containsExactly("step-025", "step-050");
    behind.write(dir.resolve("pass-000"), 1, SnapshotKind.FULL, "", 50, Map.of());
    Snapshots.retain(dir, within.run, 2);
    assertThat(names()).as("two moments").containsExactly("step-025", "pass-000");

    within.write(dir.resolve("batch-050"), 1, SnapshotKind.BATCH, "", 50, Map.of()); // another kind, which counts by itself
    within.write(dir.resolve("step-075"), 1, SnapshotKind.BASE, "", 75, Map.of());
    within.write(dir.resolve("step-100"), 1, SnapshotKind.DELTA, "step-075", 100, Map.of());
    behind.pass = 1;
    behind.write(dir.resolve("pass-001"), 1, SnapshotKind.DELTA, "step-100", 100, Map.of());
    Snapshots.retain(dir, within.run, 1);
    assertThat(names()).as("of one moment, but the delta behind the pass is relative to the one before")
        .containsExactly("batch-050", "pass-000", "step-075", "step-100", "pass-001");
  }

  /** In the order of their steps. */
  private List<String> names() throws IOException {
    return Snapshots.list(dir).stream().map(found -> found.dir().getFileName().toString()).toList();
  }

  @Test
  void a_delta_says_itself_that_what_it_is_relative_to_is_not_there() throws IOException {
    WrittenSnapshot parameters = WrittenSnapshot.random(1, 5);
    parameters.write(dir.resolve("step-425"), 1, SnapshotKind.BASE, "", 425, Map.of());
    parameters.write(dir.resolve("step-450"), 1, SnapshotKind.DELTA, "step-425", 450, Map.of());
    parameters.write(dir.resolve("step-475"), 1, SnapshotKind.DELTA, "step-450", 475, Map.of());
    SnapshotRemoval.remove(dir.resolve("step-425"), "");
    assertThatThrownBy(() -> SnapshotReader.open(dir.resolve("step-450"))).isInstanceOf(InvalidInput.class)
        .hasMessageStartingWith(dir.resolve("step-450") + " is a delta relative to step-425, which is not there. ")
        .hasMessageContaining("put step-425 back beside it, or take a snapshot that needs no other");
    assertThatThrownBy(() -> SnapshotReader.open(dir.resolve("step-475"))).isInstanceOf(InvalidInput.class)
        .hasMessageStartingWith(dir.resolve("step-475") + " is a delta, through step-450 relative to step-425, which is not there. ");
    Files.createDirectory(dir.resolve("step-425"));
    assertThatThrownBy(() -> SnapshotReader.open(dir.resolve("step-450"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("relative to step-425, which cannot be read: " + dir.resolve("step-425") + " has no manifest.json");
  }

  /** A manifest is what its author wants it to be: its checksum holds, and the file that it names is there. */
  @ParameterizedTest
  @CsvSource({"files", "trainers_files"})
  void a_manifest_that_names_a_file_outside_of_its_directory_is_refused(String list) throws IOException {
    Path from = dir.resolve("a/b/snapshot");
    WrittenSnapshot.random(1, 5).write(from, 1);
    Path payload = Files.writeString(dir.resolve("a/payload"), "payload");
    JsonObject manifest = ManifestFile.read(from);
    manifest.put(list, new JsonArray().add(new JsonObject().put("file", "../../payload").put("bytes", Files.size(payload))
        .put("sha256", FileEntry.of(payload, "payload").sha256())));
    ManifestFile.write(from.resolve(ManifestFile.NAME), manifest);
    Path to = dir.resolve("x/y/to");
    for (ThrowingCallable use : List.<ThrowingCallable>of(() -> SnapshotDirectory.verify(from), () -> Manifest.read(from),
        () -> SnapshotReader.open(from), () -> SnapshotRewrite.snapshot(from, to, 2), () -> Snapshots.named("resume", from))) {
      assertThatThrownBy(use).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(from.resolve(ManifestFile.NAME) + " cannot be understood: '../../payload' is not the name of a file");
    }
    assertThat(dir.resolve("x")).doesNotExist();
  }

  @Test
  void a_delta_that_is_relative_to_a_directory_elsewhere_is_refused() throws IOException {
    WrittenSnapshot.random(1, 5).write(dir.resolve("elsewhere/base"), 1, SnapshotKind.BASE, "", 1, Map.of());
    WrittenSnapshot.random(1, 5).write(dir.resolve("here/delta"), 1, SnapshotKind.DELTA, "../elsewhere/base", 2, Map.of());
    assertThatThrownBy(() -> SnapshotChain.of(dir.resolve("here/delta"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("'../elsewhere/base' is not the name of a file");
  }

  @Test
  void a_directory_that_is_named_means_the_last_one_in_it() throws IOException {
    WrittenSnapshot parameters = WrittenSnapshot.random(1, 5);
    parameters.write(dir.resolve("step-2"), 1, SnapshotKind.FULL, "", 2, Map.of());
    parameters.write(dir.resolve("step-1"), 1, SnapshotKind.FULL, "", 1, Map.of());
    assertThat(Snapshots.named("resume", dir).dir()).isEqualTo(dir.resolve("step-2"));
    assertThat(Snapshots.named("resume", dir.resolve("step-1")).dir()).isEqualTo(dir.resolve("step-1"));
    Path model = Files.createDirectory(dir.resolve("model"));
    ManifestFile.write(model.resolve(ManifestFile.NAME), new JsonObject().put("kind", "model").put("files", new JsonArray()));
    assertThatThrownBy(() -> Snapshots.named("--snapshot", model)).isInstanceOf(InvalidInput.class)
        .hasMessageStartingWith("--snapshot: " + model + " is a model: it has values only");
    Path empty = Files.createDirectory(dir.resolve("empty"));
    assertThatThrownBy(() -> Snapshots.named("--snapshot", empty)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("is not a snapshot, and holds none");
    assertThatThrownBy(() -> Snapshots.named("--snapshot", dir.resolve("none"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("none does not exist; name a snapshot, or a directory that holds some");
  }

  @Test
  void a_damaged_manifest_is_told_of_and_does_not_hide_the_others() throws IOException {
    WrittenSnapshot parameters = WrittenSnapshot.random(1, 5);
    parameters.write(dir.resolve("step-1"), 1, SnapshotKind.FULL, "", 1, Map.of());
    parameters.write(dir.resolve("step-2"), 1, SnapshotKind.FULL, "", 2, Map.of());
    parameters.write(dir.resolve("step-3"), 1, SnapshotKind.FULL, "", 3, Map.of());
    Path manifest = dir.resolve("step-1").resolve(ManifestFile.NAME);
    Files.writeString(manifest, Files.readString(manifest).replace("sync", "sinc"));
    List<String> skipped = new ArrayList<>();
    assertThat(Snapshots.list(dir, skipped::add)).hasSize(2);
    assertThat(skipped).singleElement().asString().contains(manifest + " is damaged");
    Snapshots.retain(dir, parameters.run, 1);
    assertThat(Snapshots.list(dir)).hasSize(1);
  }

  private void assertLatestIs(WrittenSnapshot expected) throws IOException {
    Path latest = Snapshots.latest(dir).orElseThrow().dir();
    SnapshotDirectory.verify(latest);
    assertSame(WrittenSnapshot.read(latest), expected);
  }

  /** A trainer that was taken for dead, and wakes behind the one that makes up for it. */
  @Test
  void whoever_was_replaced_as_writer_cannot_publish() throws IOException {
    SnapshotDirectory frozen = SnapshotDirectory.of(dir.resolve("s"), "rank0-1").begin();
    SnapshotDirectory.of(dir.resolve("s"), "rank1-2").begin();
    assertThatThrownBy(() -> frozen.publish(new JsonObject().put("files", new JsonArray()), false)).isInstanceOf(IOException.class);
    assertThat(dir.resolve("s")).doesNotExist();
    assertThat(dir.resolve("s.rank1-2.part")).exists();
  }

  @Test
  void what_others_write_beside_it_is_theirs() throws IOException {
    List<Path> others = List.of(dir.resolve("s.tar.part"), dir.resolve("s.v2.new.part"), dir.resolve("t.new.part"));
    for (Path other : others) {
      Files.createDirectory(other);
    }
    Path left = Files.createDirectory(dir.resolve("s.rank3-17.part"));
    SnapshotDirectory.of(dir.resolve("s")).begin();
    assertThat(others).allMatch(Files::exists);
    assertThat(left).doesNotExist();
  }

  /** The entry compares the bytes given to the writer, not the bytes that the disk reports. */
  @Test
  void tensors_that_the_disk_gives_back_otherwise_are_not_noted() throws IOException {
    Path file = dir.resolve("x.safetensors");
    try (SafetensorsWriter out = new SafetensorsWriter(file, SafetensorsWriter.headerBytes(List.of("w"), Map.of()), Map.of())) {
      out.tensor("w", TensorInfo.F32, List.of(3)).floats(new float[] {1, 2, 3}, 0, 3);
      out.finish();
    }
    FileEntry.ofTensors(file, "x.safetensors");
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 5] ^= 4;
    Files.write(file, bytes);
    assertThatThrownBy(() -> FileEntry.ofTensors(file, "x.safetensors")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("x.safetensors is not what was written, in tensors [w]");
  }

  /** A file that changes between writing and reading again, as a bad disk has it, is not published. */
  @Test
  void what_the_disk_gives_back_otherwise_is_not_published() throws IOException {
    SnapshotDirectory out = SnapshotDirectory.of(dir.resolve("s")).begin();
    Path file = out.part().resolve("x");
    Files.writeString(file, "abc");
    FileEntry entry = FileEntry.of(file, "x");
    Files.writeString(file, "abd");
    assertThatThrownBy(() -> out.publish(new JsonObject().put("files",
        new JsonArray().add(entry.toJson())), true)).isInstanceOf(InvalidInput.class).hasMessageContaining("x is damaged");
    assertThat(dir.resolve("s")).doesNotExist();
  }
}
