package io.regatta.snapshot;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparsePartition;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;

/** Parameters in memory, and what they are as a snapshot on disk. */
final class WrittenSnapshot {

  static final TableLayout EMB = new TableLayout("emb/a", 3, "adagrad", 1, 2);
  static final TableLayout WIDE = new TableLayout("wide", 1, "sgd", 0, 0);
  private static final List<DenseVariable> VARIABLES = List.of(new DenseVariable("w", List.of(7, 5)),
      new DenseVariable("layer/b", List.of(11)), new DenseVariable("scalar", List.of(1)));

  /** Whole rows by table, then by id. */
  final Map<String, Map<Long, float[]>> tables = new TreeMap<>(Map.of(EMB.name(), new TreeMap<>(), WIDE.name(), new TreeMap<>()));
  /** Run that it belongs to. */
  String run = "00000000000000a1";
  /** Pass after which it was taken; -1: none. */
  int pass = -1;
  /** Values by slot + 1, then by variable. */
  final List<Map<String, float[]>> dense = new ArrayList<>();

  private static ModelLayout layout(Sharding sharding) {
    return new ModelLayout("0123456789abcdef", 7, sharding, 4, "adam", 2, VARIABLES, List.of(EMB, WIDE));
  }

  static WrittenSnapshot random(long seed, int rows) {
    Random random = new Random(seed);
    WrittenSnapshot s = new WrittenSnapshot();
    for (TableLayout t : List.of(EMB, WIDE)) {
      for (int i = 0; i < rows; i++) {
        s.tables.get(t.name()).put(random.nextLong() >> random.nextInt(60), floats(random, t.width()));
      }
    }
    for (int slot = -1; slot < 2; slot++) {
      Map<String, float[]> values = new TreeMap<>();
      VARIABLES.forEach(v -> values.put(v.name(), floats(random, v.numel())));
      s.dense.add(values);
    }
    return s;
  }

  private static float[] floats(Random random, int n) {
    float[] values = new float[n];
    for (int i = 0; i < n; i++) {
      values[i] = random.nextFloat();
    }
    return values;
  }

  /** Writes all of it. */
  void write(Path dir, int shards) throws IOException {
    write(dir, shards, SnapshotKind.FULL, "", 500, Map.of());
  }

  void write(Path dir, Sharding sharding) throws IOException {
    write(dir, sharding, SnapshotKind.FULL, "", 500, Map.of());
  }

  /** @param removed by table */
  void write(Path dir, int shards, SnapshotKind kind, String parent, long step, Map<String, TreeSet<Long>> removed)
      throws IOException {
    write(dir, Sharding.common(shards), kind, parent, step, removed);
  }

  private void write(Path dir, Sharding sharding, SnapshotKind kind, String parent, long step,
      Map<String, TreeSet<Long>> removed) throws IOException {
    int shards = sharding.shards();
    ModelLayout layout = layout(sharding);
    SnapshotDirectory out = SnapshotDirectory.of(dir).begin();
    List<FileEntry> files = new ArrayList<>();
    for (int s = 0; s < shards; s++) {
      Path path = out.part().resolve(ShardFileWriter.name(s, shards));
      shard(path, layout, s, removed);
      files.add(FileEntry.of(path, path.getFileName().toString()));
    }
    Manifest.Trainer trainer = new Manifest.Trainer(0, 12, new TrainerProgress(step, step, step, List.of()),
        List.of(step), List.of(step), new JsonObject());
    String parentChecksum = parent.isEmpty() ? "" : ManifestFile.checksum(dir.resolveSibling(parent));
    out.publish(new Manifest("job", run, "sync", kind, step, pass, step, false, parent, parentChecksum, layout, List.of(trainer),
        files).toJson(), true);
  }

  private void shard(Path path, ModelLayout layout, int s, Map<String, TreeSet<Long>> removed) throws IOException {
    Map<String, List<Long>> own = new HashMap<>();
    Map<String, List<Long>> gone = new HashMap<>();
    tables.forEach((t, rows) -> own.put(t, of(rows.keySet(), s, layout.sharding())));
    removed.forEach((t, ids) -> gone.put(t, of(ids, s, layout.sharding())));
    try (ShardFileWriter file = new ShardFileWriter(path, layout, s, sizes(own), sizes(gone), Map.of("job", "job"))) {
      for (DensePartition.Part p : layout.partition().partsOf(s)) {
        for (int slot = -1; slot < 2; slot++) {
          float[] all = dense.get(slot + 1).get(p.variable());
          float[] part = Arrays.copyOfRange(all, p.variableOffset(), p.variableOffset() + p.size());
          file.dense(slot, p.shardOffset(), part, part.length);
        }
      }
      for (TableLayout t : layout.tables()) {
        for (long id : own.get(t.name())) {
          file.rows(t.name(), new long[] {id}, tables.get(t.name()).get(id), 1);
        }
        long[] ids = gone.getOrDefault(t.name(), List.of()).stream().mapToLong(id -> id).toArray();
        file.removed(t.name(), ids, ids.length);
      }
      file.finish();
    }
  }

  private static List<Long> of(Iterable<Long> ids, int shard, Sharding sharding) {
    List<Long> own = new ArrayList<>();
    ids.forEach(id -> {
      if (SparsePartition.shardOf(id, sharding) == shard) {
        own.add(id);
      }
    });
    return own;
  }

  private static Map<String, Long> sizes(Map<String, List<Long>> ids) {
    Map<String, Long> sizes = new HashMap<>();
    ids.forEach((t, own) -> sizes.put(t, (long) own.size()));
    return sizes;
  }

  /** Reads the snapshot on disk; an id that comes twice is a failure. */
  static WrittenSnapshot read(Path dir) throws IOException {
    WrittenSnapshot s = new WrittenSnapshot();
    try (SnapshotReader in = SnapshotReader.open(dir)) {
      for (TableLayout t : List.of(EMB, WIDE)) {
        in.rows(t, (ids, rows, n) -> {
          for (int i = 0; i < n; i++) {
            float[] row = Arrays.copyOfRange(rows, i * t.width(), (i + 1) * t.width());
            if (s.tables.get(t.name()).put(ids[i], row) != null) {
              throw new AssertionError("id " + ids[i] + " twice");
            }
          }
        });
      }
      for (int slot = -1; slot < 2; slot++) {
        Map<String, float[]> values = new TreeMap<>();
        for (DenseVariable v : VARIABLES) {
          values.put(v.name(), in.variable(v, slot));
        }
        s.dense.add(values);
      }
    }
    return s;
  }
}
