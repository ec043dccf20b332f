package io.regatta.fleet.command.output;

import io.regatta.core.error.PeerText;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.Sharding;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.LostShard;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.ManifestFile;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.Snapshots;
import io.regatta.snapshot.TableLayout;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The output of {@code regatta checkpoint inspect}. Stateless; reads manifests and the headers of files. */
public final class CheckpointPage {

  private CheckpointPage() {}

  /** Prints a line for each snapshot. */
  public static void list(List<Snapshots.Found> snapshots, PrintWriter out) {
    out.printf("%-24s %-6s %10s %6s %7s %14s  %s%n", "snapshot", "kind", "step", "pass", "shards", "bytes", "relative to");
    for (Snapshots.Found f : snapshots) {
      Manifest m = f.manifest();
      out.printf("%-24s %-6s %10d %6s %7d %14d  %s%n", PeerText.of(f.dir().getFileName()), m.kind().label(), m.step(),
          m.pass() < 0 ? "-" : m.pass(), m.model().shards(), bytes(m.files()), PeerText.of(m.parent()));
    }
  }

  private static long bytes(List<FileEntry> files) {
    return files.stream().mapToLong(FileEntry::bytes).sum();
  }

  /** Prints a snapshot or a model. */
  public static void of(Path dir, PrintWriter out) throws IOException {
    JsonObject json = ManifestFile.read(dir);
    if (json.containsKey("format")) {
      snapshot(dir, Manifest.read(dir), out);
    } else {
      line(out, "model of job", json.getString("job"));
      line(out, "mode", json.getString("mode"));
      line(out, "parameters hash", json.getString("parameters_hash"));
      List<LostShard> lost = LostShard.in(json);
      if (!LostShard.missingRows(lost).isEmpty()) {
        line(out, "missing", LostShard.missingRows(lost));
      }
      if (!LostShard.olderDense(lost).isEmpty()) {
        line(out, "as pulled last", LostShard.olderDense(lost));
      }
    }
    out.println();
    out.printf("%-36s %14s  %s%n", "file", "bytes", "tensors");
    Map<String, Long> rows = new TreeMap<>();
    for (FileEntry f : SnapshotDirectory.files(dir)) {
      if (!f.file().endsWith(SafetensorsFile.SUFFIX)) { // of a model, what DJL reads
        out.printf("%-36s %14d  -%n", f.file(), f.bytes());
        continue;
      }
      try (SafetensorsFile file = f.tensors(ConfinedDirectory.of(dir))) {
        out.printf("%-36s %14d  %d%n", f.file(), f.bytes(), file.tensors().size());
        file.tensors().stream().filter(t -> t.dtype().equals(TensorInfo.I64))
            .forEach(t -> rows.merge(t.name(), t.elements(), Long::sum));
      }
    }
    rows.forEach((tensor, n) -> out.printf("%n%s: %d in all", PeerText.of(tensor), n));
    out.println();
  }

  private static void snapshot(Path dir, Manifest m, PrintWriter out) {
    line(out, "snapshot of job", m.job());
    line(out, "kind", m.kind().label() + (m.parent().isEmpty() ? "" : ", relative to " + m.parent()));
    line(out, "mode", m.mode() + (m.fuzzy() ? ", fuzzy: shards contain different pushes of a trainer" : ""));
    line(out, "step", m.step() + (m.pass() < 0 ? "" : ", pass " + m.pass()));
    line(out, "updates", m.version());
    Sharding sharding = m.model().sharding();
    line(out, "shards", sharding.shards() + (sharding.isApart() ? ", of every " + sharding.perServer() + " the last "
        + sharding.sparsePerServer() + " with sparse tables only, the others with dense parameters only" : ""));
    line(out, "model", m.model().digest());
    long dense = m.model().dense().stream().mapToLong(DenseVariable::numel).sum();
    line(out, "dense", m.model().dense().size() + " variables, " + dense + " elements, " + m.model().optimizer() + " with "
        + m.model().slots() + " slots");
    for (TableLayout t : m.model().tables()) {
      line(out, "table", t.name() + ": " + t.words());
    }
    for (Manifest.Trainer t : m.trainers()) {
      line(out, "trainer " + t.rank(), t.progress().localSteps() + " local steps, " + t.progress().exchanges()
          + " exchanges, learning-rate step " + t.progress().learningRateStep());
    }
  }

  private static void line(PrintWriter out, String what, Object value) {
    out.printf("%-16s %s%n", what, PeerText.message(String.valueOf(value)));
  }
}
