package io.regatta.protocol.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names in a manifest that lead out of its directory: each reader refuses them, and writes nothing. */
class TraversalNamesTest {

  @TempDir
  Path dir;

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
