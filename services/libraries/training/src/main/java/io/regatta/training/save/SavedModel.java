package io.regatta.training.save;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.progress.Progress;
import io.regatta.node.settings.SettingsWriter;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.LostShard;
import io.regatta.snapshot.ManifestFile;
import io.regatta.snapshot.ModelFiles;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.snapshot.WritablePlace;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.SafetensorsWriter;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.regatta.training.config.JobConfig;
import io.regatta.training.feature.DeclaredFeatures;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.session.TrainerSession;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model on disk, readable by any safetensors tool. Written by the first worker, on its model thread. Its files:
 * <ul>
 *   <li>{@code dense.safetensors}: parameters by name, including those that are not trained;
 *   <li>{@code table-NAME.safetensors} per sparse table: {@code ids} int64 {@code [n]}, {@code values} float32
 *       {@code [n, dim]}, in the order in which the shards sent them; for NAME see {@link ModelFiles};
 *   <li>{@code model-0000.params}: the dense parameters in DJL's format;
 *   <li>{@code features.json} and vocabularies, if features that the job declares are computed from statistics;
 *   <li>{@code manifest.json}: their SHA-256, the program and its settings, and the features, label and model that the
 *       job declares.
 * </ul>
 *
 * All files are written under temporary names and renamed when all are complete, the manifest last: a save that fails
 * leaves an older model in the directory unchanged.
 */
public final class SavedModel {

  private static final Logger LOG = LoggerFactory.getLogger(SavedModel.class);
  /** Key of the manifest with the digest of the features and their statistics. */
  public static final String FEATURES_DIGEST = "features_digest";

  private static final String PART = ".part";
  /** Name of the model in DJL's file: {@code Model.newInstance("model")}, then {@code load} this directory. */
  private static final String DJL_NAME = "model";
  private static final String DJL_PARAMETERS = DJL_NAME + "-0000.params";

  private final Path dir;
  private final TrainerSession session;
  private final FleetTrainer trainer;
  private final Progress progress;
  /** Null if no shard is lost. */
  private final RemainingModel left;
  private final JsonArray files = new JsonArray();
  /** Names of all files begun, in order. */
  private final List<String> names = new ArrayList<>();
  /** Hash of the parameters in the files begun so far, used if no digest of all shards is available. */
  private long hash;

  private SavedModel(Path dir, TrainerSession session, FleetTrainer trainer, Progress progress, RemainingModel left) {
    this.dir = dir;
    this.session = session;
    this.trainer = trainer;
    this.progress = progress;
    this.left = left;
  }

  /**
   * Saves the servers' parameters; the caller ensures that no rank trains meanwhile. Blocks the calling model thread
   * until all files are in place.
   *
   * @param dir created if it does not exist
   * @param progress called for each file before it is written
   */
  public static void write(Path dir, TrainerSession session, FleetTrainer trainer, Progress progress) {
    write(dir, session, trainer, progress, null);
  }

  /**
   * Saves the rest of the parameters when shards are lost; the manifest lists what is missing.
   *
   * @param left null: everything
   */
  public static void write(Path dir, TrainerSession session, FleetTrainer trainer, Progress progress,
      RemainingModel left) {
    SavedModel model = new SavedModel(dir, session, trainer, progress, left);
    try {
      Files.createDirectories(dir);
      try {
        model.dense();
        for (SparseTableSpec table : trainer.tables()) {
          model.table(table);
        }
        model.djl();
        model.statistics();
        model.manifest();
        model.publish();
      } finally {
        model.removeParts();
      }
    } catch (IOException e) {
      throw new InvalidInput("trainer " + session.trainer().rank() + " of job " + session.job().job()
          + ": the model cannot be saved in " + dir.toAbsolutePath() + ": " + WritablePlace.reason(e) + "; choose another output directory",
          e);
    }
  }

  private JobSpec spec() {
    return trainer.client().job();
  }

  private void dense() throws IOException {
    Map<String, float[]> frozen = trainer.frozenValues();
    List<DenseVariable> variables = new ArrayList<>(spec().model().dense());
    float[] flat = left != null ? left.dense() : session.await("reading of the dense parameters to save",
        trainer.client().read(true, List.of())).dense();
    List<String> names = new ArrayList<>(frozen.keySet());
    variables.forEach(v -> names.add(v.name()));
    Map<String, String> metadata = Map.of("job", session.job().job());
    add(ModelFiles.DENSE, part -> {
      try (SafetensorsWriter out = new SafetensorsWriter(part, SafetensorsWriter.headerBytes(names, metadata), metadata)) {
        int off = 0;
        for (DenseVariable v : variables) {
          out.tensor(v.name(), TensorInfo.F32, v.shape()).floats(flat, off, v.numel());
          hash += left == null ? 0 : ParameterHash.dense(v.name(), 0, flat, off, v.numel());
          off += v.numel();
        }
        for (Map.Entry<String, float[]> f : frozen.entrySet()) {
          int n = f.getValue().length;
          out.tensor(f.getKey(), TensorInfo.F32, List.of(n)).floats(f.getValue(), 0, n);
        }
        out.finish();
      }
    });
  }

  private void table(SparseTableSpec table) throws IOException {
    Map<String, String> metadata = Map.of("job", session.job().job(), "table", table.name());
    int headerBytes = SafetensorsWriter.headerBytes(List.of("values", "ids"), metadata);
    add(ModelFiles.table(table.name()), part -> {
      try (SafetensorsWriter out = new SafetensorsWriter(part, headerBytes, metadata)) {
        SafetensorsWriter.Tensor values = out.openEnded("values", TensorInfo.F32);
        List<long[]> slices = values(table, values);
        long rows = slices.stream().mapToLong(slice -> slice.length).sum();
        values.end(List.of(rows, table.dim()));
        SafetensorsWriter.Tensor ids = out.tensor("ids", TensorInfo.I64, List.of(rows));
        for (long[] slice : slices) {
          ids.longs(slice, 0, slice.length);
        }
        out.finish();
      }
    });
  }

  /**
   * Writes the dense parameters in DJL's own format, which {@code Model.load} reads; not of a model that its program
   * has closed.
   */
  private void djl() throws IOException {
    if (trainer.isClosed()) {
      return;
    }
    add(DJL_PARAMETERS, part -> {
      Path scratch = Files.createTempDirectory(dir, ".djl");
      try {
        trainer.getModel().save(scratch, DJL_NAME);
        Files.move(scratch.resolve(DJL_PARAMETERS), part, StandardCopyOption.REPLACE_EXISTING);
        SnapshotDirectory.sync(part);
      } finally {
        Files.deleteIfExists(scratch.resolve(DJL_PARAMETERS));
        Files.delete(scratch);
      }
    });
  }

  /** Writes the statistics from which the features of the job were computed, whatever lies in their directory now. */
  private void statistics() throws IOException {
    for (Map.Entry<String, byte[]> file : session.features().get().map(DeclaredFeatures::statisticsFiles).orElse(Map.of()).entrySet()) {
      add(file.getKey(), part -> Files.write(part, file.getValue()));
    }
  }

  /** Writes the values of all rows as they arrive, and returns their ids, slice by slice. */
  private List<long[]> values(SparseTableSpec table, SafetensorsWriter.Tensor out) throws IOException {
    RowHandover rows = new RowHandover();
    long key = ParameterHash.tableKey(table.name());
    List<long[]> ids = new ArrayList<>();
    Set<Integer> without = left == null ? Set.of() : left.shards();
    trainer.client().export(table.name(), without, rows).whenComplete((v, e) -> rows.ended(e));
    try {
      String slices = "export of table " + table.name();
      for (SparseRows s = session.await(slices, rows.next()); s != null; s = session.await(slices, rows.next())) {
        out.floats(s.values(), 0, s.values().length);
        for (int row = 0; left != null && row < s.ids().length; row++) {
          hash += ParameterHash.row(key, s.ids()[row], s.values(), row * table.dim(), table.dim());
        }
        ids.add(s.ids());
      }
      return ids;
    } finally {
      rows.close();
    }
  }

  /** A writer of a file at a given path; it leaves the file closed, however it ends. */
  private interface Content {
    void writeTo(Path part) throws IOException;
  }

  /** Writes a file of the model and records its hash. */
  private void add(String name, Content content) throws IOException {
    Path part = part(name);
    content.writeTo(part);
    files.add((name.endsWith(SafetensorsFile.SUFFIX) ? FileEntry.ofTensors(part, name) : FileEntry.of(part, name)).toJson());
  }

  private Path part(String name) {
    progress.saving(name);
    names.add(name);
    return partOf(name);
  }

  /**
   * Returns the temporary path of a file. It contains the rank, because a rank declared lost may still be writing, or
   * cleaning up, beside its successor.
   */
  private Path partOf(String name) {
    return dir.resolve(name + ".rank" + session.trainer().rank() + PART);
  }

  /** Publishes the model: renames all files to their names, in the order in which they were written. */
  private void publish() throws IOException {
    for (String name : names) {
      Files.move(partOf(name), dir.resolve(name), StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.ATOMIC_MOVE);
    }
    SnapshotDirectory.sync(dir);
  }

  /** Removes the files that have not been renamed. */
  private void removeParts() {
    for (String name : names) {
      try {
        Files.deleteIfExists(partOf(name));
      } catch (IOException e) {
        LOG.warn("{} could not be deleted: {}", partOf(name), e.toString());
      }
    }
  }

  private void manifest() throws IOException {
    if (left == null) {
      hash = session.await("hash of all parameters", trainer.client().digest());
    }
    JsonArray tables = new JsonArray();
    for (SparseTableSpec t : trainer.tables()) {
      InitializerSpec without = t.life().admits() ? InitializerSpec.zeros() : t.initializer(); // for ids without rows
      tables.add(new JsonObject().put("table", t.name()).put("dim", t.dim()).put("initializer", new JsonObject()
          .put("kind", without.kind().name().toLowerCase(Locale.ROOT)).put("a", without.a()).put("b", without.b())));
    }
    JsonObject manifest = new JsonObject().put("kind", SnapshotKind.MODEL.label()).put("job", session.job().job())
        .put("mode", spec().mode().id()).put("seed", session.job().seed())
        .put("shards", spec().shards()).put("model_digest", spec().model().digest())
        .put("parameters_hash", String.format(Locale.ROOT, "%016x", hash)).put("tables", tables).put("files", files)
        .put("run", trainer.run()).put("step", trainer.steps()).put("program", session.job().program())
        .put("settings", new JsonObject(session.job().settings()))
        .put("data", new JsonObject().put("format", session.job().data().format().label()));
    putFeatures(manifest, session);
    if (left != null) {
      LostShard.put(manifest, left.lost());
    }
    ManifestFile.write(part(ManifestFile.NAME), manifest);
  }

  /** Adds the sections by which a program reads declared features. */
  private static void putFeatures(JsonObject manifest, TrainerSession session) {
    JobConfig job = session.job();
    if (job.features().isEmpty()) {
      return;
    }
    manifest.put(FEATURES_DIGEST, session.features().digest()).put("features", SettingsWriter.json(job.features())).put("labels", SettingsWriter.json(job.labels()))
        .put("metrics", SettingsWriter.json(job.metrics())).put("model", SettingsWriter.json(job.model()));
    if (!job.data().columns().isEmpty()) {
      manifest.getJsonObject("data").put("columns", new JsonArray(job.data().columns()));
    }
  }
}
