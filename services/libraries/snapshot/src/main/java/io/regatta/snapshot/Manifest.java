package io.regatta.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.model.Sharding;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * The description of a snapshot: its job, its moment, its files. Immutable.
 *
 * @param run the run that it belongs to: 16 hexadecimal digits, higher for runs that began later; a run that resumes
 *     keeps it
 * @param mode exchange mode, lower case
 * @param step local steps of the rank that took it, which give it its name. Nothing is restored from it, see
 *     {@code trainers}
 * @param pass number of completed passes over the data, -1 if it was made within one
 * @param version the highest of the shards' counts of updates; snapshots of one run are in the order of these
 * @param updates of the optimizers
 * @param fuzzy true if shards contain different pushes of a trainer, because it was lost while it pushed
 * @param examples that the run has trained
 * @param parent name of the directory beside this one that a delta is relative to; empty for all others
 * @param parentChecksum of the manifest there, since another snapshot may have taken that name; empty for all others
 * @param trainers progress of each trainer, in rank order
 * @param files one per shard, in shard order
 * @param features digest of the declared features and their statistics; empty: none, or not known
 * @param trainersFiles files that trainers keep beside the shards; readers that do not know their content leave them
 *     unchanged
 */
public record Manifest(String job, String run, String mode, SnapshotKind kind, long step, int pass, long version,
    OptimizerUpdates updates, boolean fuzzy, ExampleCounts examples, String parent, String parentChecksum,
    ModelLayout model, List<Trainer> trainers, List<FileEntry> files, String features,
    List<FileEntry> trainersFiles) {

  static final String TRAINERS_FILES = "trainers_files";
  private static final String FEATURES = "features_digest";
  private static final String FORMAT = "regatta-snapshot-2";
  /** Format whose trainers have one number for all counts. */
  private static final String FORMAT_1 = "regatta-snapshot-1";
  private static final String EXAMPLES = "examples";
  private static final String PER_SERVER = "shards_per_server";
  private static final String SPARSE = "sparse_shards";

  /**
   * Progress of one trainer whose pushes are contained.
   *
   * @param incarnation of its life
   * @param progress that its last contained push carried
   * @param clocks that the shards keep of it, by shard
   * @param sequences of its last contained push, by shard
   * @param cursor place in the data at which all trainers resume reading, as the reader writes it; empty: the places of
   *     the replicas count
   */
  public record Trainer(int rank, long incarnation, TrainerProgress progress, List<Long> clocks, List<Long> sequences,
      JsonObject cursor) {

    public Trainer {
      clocks = List.copyOf(clocks);
      sequences = List.copyOf(sequences);
    }

    /** Returns a trainer of another rank with the same progress. */
    public Trainer as(int otherRank) {
      return new Trainer(otherRank, incarnation, progress, clocks, sequences, cursor);
    }

    /** Returns the highest clock that a shard keeps of it; 0 without shards. */
    public long clock() {
      return clocks.stream().mapToLong(Long::longValue).max().orElse(0);
    }

    JsonObject toJson() {
      return new JsonObject().put("rank", rank).put("incarnation", incarnation).mergeIn(ProgressJson.of(progress))
          .put("clocks", new JsonArray(clocks)).put("sequences", new JsonArray(sequences)).put("cursor", cursor);
    }

    static Trainer of(JsonObject json) {
      return new Trainer(json.getInteger("rank"), json.getLong("incarnation"), ProgressJson.read(json), longs(json, "clocks"),
          longs(json, "sequences"), json.getJsonObject("cursor", new JsonObject()));
    }

    /** Reads version 1, which has one number: local steps, in pushes of each replica. */
    static Trainer ofVersion1(JsonObject json) {
      long steps = json.getLong("steps");
      List<Long> sequences = longs(json, "sequences");
      return new Trainer(json.getInteger("rank"), json.getLong("incarnation"), new TrainerProgress(steps, steps, steps, List.of()),
          Collections.nCopies(sequences.size(), steps), sequences, json.getJsonObject("cursor", new JsonObject()));
    }

    private static List<Long> longs(JsonObject json, String key) {
      return json.getJsonArray(key).stream().map(n -> ((Number) n).longValue()).toList();
    }
  }

  public Manifest {
    trainers = List.copyOf(trainers);
    files = List.copyOf(files);
    trainersFiles = List.copyOf(trainersFiles);
  }

  /**
   * Creates the manifest of a job whose trainers keep no files and count no examples, and whose optimizers have made
   * every update.
   */
  public Manifest(String job, String run, String mode, SnapshotKind kind, long step, int pass, long version, boolean fuzzy,
      String parent, String parentChecksum, ModelLayout model, List<Trainer> trainers, List<FileEntry> files) {
    this(job, run, mode, kind, step, pass, version, every(version, model), fuzzy, ExampleCounts.UNKNOWN, parent,
        parentChecksum, model, trainers, files, "", List.of());
  }

  private static OptimizerUpdates every(long updates, ModelLayout model) {
    return OptimizerUpdates.all(updates, model.tables().stream().map(TableLayout::name).toList());
  }

  /**
   * Order of the moments of one run, by updates: local steps are those of one rank, which may be another rank's than
   * before. Of snapshots with the same values, the one of more steps is later, and the one after the pass.
   */
  static final Comparator<Manifest> MOMENTS = Comparator.comparingLong(Manifest::version).thenComparingLong(Manifest::step)
      .thenComparingInt(Manifest::pass);

  /** Returns true if this is of an earlier moment of the same run. */
  public boolean isBefore(Manifest other) {
    return MOMENTS.compare(this, other) < 0;
  }

  /** Returns true if a manifest is that of a snapshot. */
  static boolean is(JsonObject json) {
    return FORMAT.equals(json.getString("format")) || isVersion1(json);
  }

  static boolean isVersion1(JsonObject json) {
    return FORMAT_1.equals(json.getString("format"));
  }

  /** Reads and checks it; the files are not read. */
  public static Manifest read(Path dir) {
    return of(dir, ManifestFile.read(dir));
  }

  /** Checks a manifest that has been read there. */
  static Manifest of(Path dir, JsonObject json) {
    if (!is(json)) {
      throw new InvalidInput(dir + " is not a snapshot but " + (json.getString("kind", "model").equals("model")
          ? "a model: it has values only, and no optimizer state" : "of format " + json.getString("format"))
          + "; name a directory that a run wrote with snapshots, or with regatta checkpoint");
    }
    try {
      return of(json);
    } catch (RuntimeException e) {
      throw new InvalidInput(dir.resolve(ManifestFile.NAME) + " cannot be understood: " + e.getMessage(), e);
    }
  }

  public JsonObject toJson() {
    JsonArray marks = new JsonArray();
    trainers.forEach(t -> marks.add(t.toJson()));
    JsonObject json = new JsonObject().put("format", FORMAT).put("job", job).put("run", run).put("kind", kind.label())
        .put("mode", mode).put("step", step).put("pass", pass).put("version", version)
        .put("optimizer_updates", ProgressJson.of(updates))
        .put("fuzzy", fuzzy).put(EXAMPLES, examples.toJson())
        .put("parent", parent).put("parent_checksum", parentChecksum).put("shards", model.shards());
    if (model.sharding().isApart()) {
      json.put(PER_SERVER, model.sharding().perServer()).put(SPARSE, model.sharding().sparsePerServer());
    }
    return json.put("model", model.toJson()).put("trainers", marks).put("files", json(files))
        .put(FEATURES, features).put(TRAINERS_FILES, json(trainersFiles));
  }

  private static JsonArray json(List<FileEntry> entries) {
    JsonArray json = new JsonArray();
    entries.forEach(entry -> json.add(entry.toJson()));
    return json;
  }

  /** Returns the files that a manifest lists under this key; none if it has no such list. */
  static List<FileEntry> files(JsonObject json, String key) {
    return json.getJsonArray(key, new JsonArray()).stream().map(f -> FileEntry.of((JsonObject) f)).toList();
  }

  private static Manifest of(JsonObject json) {
    List<Trainer> trainers = new ArrayList<>();
    boolean version1 = isVersion1(json);
    json.getJsonArray("trainers").stream().map(JsonObject.class::cast)
        .forEach(t -> trainers.add(version1 ? Trainer.ofVersion1(t) : Trainer.of(t)));
    List<FileEntry> files = files(json, "files");
    ModelLayout model = ModelLayout.of(json.getJsonObject("model"),
        new Sharding(json.getInteger("shards"), json.getInteger(PER_SERVER, 0), json.getInteger(SPARSE, 0)));
    if (files.size() != model.shards()) {
      throw new InvalidInput(files.size() + " files for " + model.shards() + " shards");
    }
    trainers.sort(Comparator.comparingInt(Trainer::rank));
    return new Manifest(json.getString("job"), text(json, "run"), json.getString("mode"), SnapshotKind.of(json.getString("kind")),
        json.getLong("step"), json.getInteger("pass"), json.getLong("version"),
        version1 ? every(json.getLong("version"), model) : ProgressJson.updates(json.getJsonObject("optimizer_updates")), json.getBoolean("fuzzy"),
        json.containsKey(EXAMPLES) ? ExampleCounts.of(json.getJsonObject(EXAMPLES)) : ExampleCounts.UNKNOWN,
        json.getString("parent"), text(json, "parent_checksum"), model, trainers, files,
        json.getString(FEATURES, ""), files(json, TRAINERS_FILES));
  }

  private static String text(JsonObject json, String key) {
    String value = json.getString(key);
    if (value == null) {
      throw new InvalidInput("it has no " + key);
    }
    return value;
  }

  /** Returns a copy with other files. */
  Manifest with(SnapshotKind newKind, ModelLayout newModel, List<FileEntry> newFiles) {
    boolean delta = newKind == SnapshotKind.DELTA;
    return new Manifest(job, run, mode, newKind, step, pass, version, updates, fuzzy, examples, delta ? parent : "",
        delta ? parentChecksum : "", newModel, trainers, newFiles, features, trainersFiles);
  }
}
