package io.regatta.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparsePartition;
import io.regatta.snapshot.safetensors.SafetensorsWriter;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The rewriting of a snapshot: the same over a number of shards that hold dense parts and rows alike, with deltas
 * merged into their base, or a model for serving. Damage is refused before anything is written: all files are compared
 * with their checksums first. Ids are read twice more, to be counted and with their rows. One slice of rows is in
 * memory, and one dense variable. Used by one thread for one call.
 */
public final class SnapshotRewrite {

  private SnapshotRewrite() {}

  /**
   * Writes a whole snapshot over {@code shards} files; of a delta with all that it is relative to.
   *
   * @param shards all of which hold dense parts and rows; 0: those that the newest has
   */
  public static void snapshot(Path from, Path to, int shards) throws IOException {
    try (SnapshotReader in = SnapshotReader.open(from)) {
      ModelLayout layout = shards == 0 ? in.manifest().model() : in.manifest().model().over(Sharding.common(shards));
      SnapshotDirectory out = check(in, to).begin();
      try {
        List<Path> paths = new ArrayList<>();
        for (int s = 0; s < layout.shards(); s++) {
          paths.add(out.part().resolve(ShardFileWriter.name(s, layout.shards())));
        }
        write(in, layout, paths);
        List<FileEntry> entries = new ArrayList<>();
        for (Path path : paths) {
          entries.add(FileEntry.ofTensors(path, path.getFileName().toString()));
        }
        for (FileEntry kept : in.manifest().trainersFiles()) {
          copy(kept.file(), in.newest().directory(), ConfinedDirectory.of(out.part()));
        }
        SnapshotKind kind = in.manifest().kind() == SnapshotKind.DELTA ? SnapshotKind.FULL : in.manifest().kind();
        out.publish(in.manifest().with(kind, layout, entries).toJson(), true);
      } catch (IOException | RuntimeException e) {
        out.discard();
        throw e;
      }
    }
  }

  private static void copy(String name, ConfinedDirectory from, ConfinedDirectory to) throws IOException {
    try (FileChannel in = from.open(name); FileChannel out = to.create(name)) {
      for (long at = 0; at < in.size(); ) {
        at += in.transferTo(at, in.size() - at, out);
      }
      out.force(true);
    }
  }

  /** Begins the target, after a check that the source is whole and the target does not exist yet. */
  private static SnapshotDirectory check(SnapshotReader in, Path to) throws IOException {
    if (in.newest().dir().equals(to.toAbsolutePath().normalize())) {
      throw new InvalidInput(to + " is the snapshot that is read; name another directory");
    }
    if (Files.exists(to)) {
      throw new InvalidInput(to + " is there already; name a new directory");
    }
    in.verify();
    return SnapshotDirectory.of(to);
  }

  private static void write(SnapshotReader in, ModelLayout layout, List<Path> paths) throws IOException {
    List<Map<String, Long>> counts = new ArrayList<>();
    paths.forEach(p -> counts.add(new HashMap<>()));
    for (TableLayout t : layout.tables()) {
      long[] count = new long[layout.shards()];
      in.ids(t, (ids, none, n) -> {
        for (int i = 0; i < n; i++) {
          count[SparsePartition.shardOf(ids[i], layout.sharding())]++;
        }
      });
      for (int s = 0; s < count.length; s++) {
        counts.get(s).put(t.name(), count[s]);
      }
    }
    List<ShardFileWriter> writers = new ArrayList<>();
    try {
      for (int s = 0; s < layout.shards(); s++) {
        writers.add(new ShardFileWriter(paths.get(s), layout, s, counts.get(s), Map.of(),
            Map.of("job", in.manifest().job(), "shard", Integer.toString(s), ShardSaver.SHRINKS,
                Long.toString(in.shrinks()))));
      }
      dense(in, layout, writers);
      for (TableLayout t : layout.tables()) {
        rows(in, t, layout.sharding(), writers);
      }
      for (ShardFileWriter w : writers) {
        w.finish();
      }
    } finally {
      for (ShardFileWriter w : writers) {
        w.close();
      }
    }
  }

  private static void dense(SnapshotReader in, ModelLayout layout, List<ShardFileWriter> writers) throws IOException {
    Map<String, List<DensePartition.Part>> parts = new HashMap<>();
    layout.partition().parts().forEach(p -> parts.computeIfAbsent(p.variable(), v -> new ArrayList<>()).add(p));
    for (DenseVariable v : layout.dense()) {
      for (int slot = -1; slot < layout.slots(); slot++) {
        float[] all = in.variable(v, slot);
        for (DensePartition.Part p : parts.getOrDefault(v.name(), List.of())) {
          writers.get(p.shard()).part(p, slot, all, p.variableOffset(), p.size());
        }
      }
    }
  }

  /** Writes rows. Slices are cut by shard, with each shard's rows next to each other. */
  private static void rows(SnapshotReader in, TableLayout t, Sharding sharding, List<ShardFileWriter> writers)
      throws IOException {
    int shards = writers.size();
    int width = t.width();
    in.rows(t, (ids, rows, n) -> {
      int[] owner = new int[n];
      int[] size = new int[shards];
      for (int i = 0; i < n; i++) {
        owner[i] = SparsePartition.shardOf(ids[i], sharding);
        size[owner[i]]++;
      }
      long[][] cutIds = new long[shards][];
      float[][] cutRows = new float[shards][];
      for (int s = 0; s < shards; s++) {
        cutIds[s] = new long[size[s]];
        cutRows[s] = new float[size[s] * width];
        size[s] = 0;
      }
      for (int i = 0; i < n; i++) {
        int s = owner[i];
        cutIds[s][size[s]] = ids[i];
        System.arraycopy(rows, i * width, cutRows[s], size[s]++ * width, width);
      }
      for (int s = 0; s < shards; s++) {
        writers.get(s).rows(t.name(), cutIds[s], cutRows[s], size[s]);
      }
    });
  }

  /** Writes the model that is in a snapshot, in the form in which a trainer saves one. */
  public static void model(Path from, Path to) throws IOException {
    try (SnapshotReader in = SnapshotReader.open(from)) {
      Manifest m = in.manifest();
      SnapshotDirectory out = check(in, to).beginModel();
      try {
        List<FileEntry> files = new ArrayList<>();
        long[] hash = new long[1];
        files.add(denseFile(in, out, hash));
        JsonArray tables = new JsonArray();
        for (TableLayout t : m.model().tables()) {
          files.add(tableFile(in, t, out, hash));
          tables.add(new JsonObject().put("table", t.name()).put("dim", t.dim()));
        }
        JsonArray entries = new JsonArray();
        files.forEach(f -> entries.add(f.toJson()));
        out.publish(new JsonObject().put("kind", SnapshotKind.MODEL.label()).put("job", m.job()).put("mode", m.mode())
            .put("step", m.step()).put("seed", m.model().seed()).put("shards", m.model().shards())
            .put("model_digest", m.model().digest())
            .put("parameters_hash", String.format(Locale.ROOT, "%016x", hash[0])).put("tables", tables)
            .put("files", entries), true);
      } catch (IOException | RuntimeException e) {
        out.discard();
        throw e;
      }
    }
  }

  private static FileEntry denseFile(SnapshotReader in, SnapshotDirectory out, long[] hash) throws IOException {
    List<DenseVariable> variables = in.manifest().model().dense();
    Map<String, String> metadata = Map.of("job", in.manifest().job());
    Path path = out.part().resolve(ModelFiles.DENSE);
    int header = SafetensorsWriter.headerBytes(variables.stream().map(DenseVariable::name).toList(), metadata);
    try (SafetensorsWriter file = new SafetensorsWriter(path, header, metadata)) {
      for (DenseVariable v : variables) {
        float[] values = in.variable(v, -1);
        hash[0] += ParameterHash.dense(v.name(), 0, values, 0, values.length);
        file.tensor(v.name(), TensorInfo.F32, v.shape()).floats(values, 0, values.length);
      }
      file.finish();
    }
    return FileEntry.ofTensors(path, ModelFiles.DENSE);
  }

  private static FileEntry tableFile(SnapshotReader in, TableLayout t, SnapshotDirectory out, long[] hash)
      throws IOException {
    long[] count = new long[1];
    in.ids(t, (ids, none, n) -> count[0] += n);
    Map<String, String> metadata = new LinkedHashMap<>(Map.of("job", in.manifest().job(), "table", t.name()));
    Path path = out.part().resolve(ModelFiles.table(t.name()));
    long key = ParameterHash.tableKey(t.name());
    try (SafetensorsWriter file = new SafetensorsWriter(path,
        SafetensorsWriter.headerBytes(List.of("ids", "values"), metadata), metadata)) {
      SafetensorsWriter.Tensor ids = file.tensor("ids", TensorInfo.I64, List.of(count[0]));
      SafetensorsWriter.Tensor values = file.tensor("values", TensorInfo.F32, List.of(count[0], (long) t.dim()));
      in.rows(t, (someIds, rows, n) -> {
        ids.longs(someIds, 0, n);
        for (int i = 0; i < n; i++) {
          values.floats(rows, i * t.width(), t.dim());
          hash[0] += ParameterHash.row(key, someIds[i], rows, i * t.width(), t.dim());
        }
      });
      file.finish();
    }
    return FileEntry.ofTensors(path, path.getFileName().toString());
  }
}
