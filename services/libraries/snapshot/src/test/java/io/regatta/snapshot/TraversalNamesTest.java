package io.regatta.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names in a manifest that lead out of its directory: each reader refuses them, and writes nothing. */
class TraversalNamesTest {

  @TempDir
  Path dir;

  /** The kubelet makes a directory of each state, a link to the last one, and a link through that for each entry. */
  private static Path volume(Path volume, List<String> entries) throws IOException {
    Files.createSymbolicLink(volume.resolve("..data"), Path.of("..2026_01_01_00_00_00.1"));
    for (String entry : entries) {
      Files.createSymbolicLink(volume.resolve(entry), Path.of("..data").resolve(entry));
    }
    return volume;
  }

  @Test
  void snapshots_in_volumes_of_kubernetes_are_read_and_found_once() throws IOException {
    Path deep = Files.createDirectories(dir.resolve("deep"));
    Path state = deep.resolve("..2026_01_01_00_00_00.1");
    WrittenSnapshot snapshot = WrittenSnapshot.random(3, 20);
    snapshot.write(state.resolve("base"), 2, SnapshotKind.BASE, "", 500, Map.of());
    snapshot.write(state.resolve("delta"), 2, SnapshotKind.DELTA, "base", 510, Map.of());
    volume(deep, List.of("base", "delta"));
    assertThat(Snapshots.list(deep)).extracting(found -> found.dir().getFileName().toString())
        .containsExactly("base", "delta");
    assertThat(SnapshotChain.of(deep.resolve("delta"))).hasSize(2);
    assertThat(WrittenSnapshot.read(deep.resolve("delta")).tables.keySet()).isEqualTo(snapshot.tables.keySet());

    Path flat = Files.createDirectories(dir.resolve("flat"));
    snapshot.write(flat.resolve("..2026_01_01_00_00_00.1"), 2);
    volume(flat, List.of("manifest.json", ShardFileWriter.name(0, 2), ShardFileWriter.name(1, 2)));
    SnapshotDirectory.verify(flat);
    assertThat(Snapshots.named("resume", flat).dir()).isEqualTo(flat);
    assertThat(Snapshots.all(flat)).containsExactly(flat);
    assertThat(Snapshots.list(flat)).isEmpty();
  }

  private Path snapshot() throws IOException {
    Path snapshot = dir.resolve("deep/in/full");
    Files.createDirectories(snapshot.getParent());
    WrittenSnapshot.random(3, 20).write(snapshot, 2);
    return snapshot;
  }

  private static void change(Path snapshot, String key, JsonObject entry) throws IOException {
    JsonObject manifest = ManifestFile.read(snapshot);
    manifest.put(key, manifest.getJsonArray(key, new JsonArray()).copy().add(entry));
    ManifestFile.write(snapshot.resolve(ManifestFile.NAME), manifest);
  }

  private void refused(Path snapshot) {
    Path out = dir.resolve("out/of/it");
    for (ThrowingCallable reader : List.<ThrowingCallable>of(() -> SnapshotDirectory.verify(snapshot),
        () -> SnapshotRewrite.snapshot(snapshot, out, 1), () -> SnapshotRewrite.model(snapshot, out),
        () -> SnapshotReader.open(snapshot).verify())) {
      assertThatThrownBy(reader).isInstanceOf(InvalidInput.class);
    }
    assertThat(out).doesNotExist();
    assertThat(dir.resolve("out/payload")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"../../payload", "/etc/hostname", "a\0b", "..\\payload", "", "a//b", "C:\\payload", ".",
      ".."})
  void refuses_names_of_trainers_files(String name) throws Exception {
    Path snapshot = snapshot();
    Path payload = Files.writeString(dir.resolve("deep/payload"), "payload");
    change(snapshot, Manifest.TRAINERS_FILES, new JsonObject().put("file", name).put("bytes", Files.size(payload))
        .put("sha256", FileEntry.of(payload, "payload").sha256()));
    refused(snapshot);
    assertThatThrownBy(() -> Manifest.read(snapshot)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(ManifestFile.NAME).hasMessageContaining("is not the name of a file");
    assertThatThrownBy(() -> SnapshotDirectory.files(snapshot)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(ManifestFile.NAME).hasMessageContaining("is not the name of a file");
  }

  @Test
  void refuses_links() throws Exception {
    Path snapshot = snapshot();
    Path payload = Files.writeString(dir.resolve("payload"), "payload");
    Files.createSymbolicLink(snapshot.resolve("link"), payload);
    change(snapshot, Manifest.TRAINERS_FILES, FileEntry.of(payload, "link").toJson());
    refused(snapshot);
  }

  @ParameterizedTest
  @ValueSource(strings = {"../elsewhere", "/full", "full/..", "..", "."})
  void refuses_parents_that_are_not_beside_a_delta(String parent) throws Exception {
    Path snapshot = snapshot();
    Path delta = snapshot.resolveSibling("delta");
    Files.move(snapshot, delta);
    ManifestFile.write(delta.resolve(ManifestFile.NAME),
        ManifestFile.read(delta).put("kind", "delta").put("parent", parent));
    assertThatThrownBy(() -> SnapshotChain.of(delta)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("is not the name of a file");
  }
}
