package io.regatta.protocol.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.Sharding;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What a snapshot is: of which job, of which moment, in which files. Immutable.
 *
 * @param run whose it is: 16 hexadecimal digits, higher for runs that began later; kept by those that go on from it
 * @param mode exchange mode, lower case
 * @param step steps that it holds: the run goes on with the step of this number
 * @param pass passes over the data that are behind it, -1 if it was made within one
 * @param version the highest of the shards' counts of updates
 * @param fuzzy shards and rows are of slightly different moments: pushes went on while it was taken, outside of sync mode
 * @param parent name of the directory beside this one that a delta is relative to; empty for all others
 * @param parentChecksum of the manifest there, for another snapshot may have come to that name; empty for all others
 * @param trainers how far each was
 * @param files one per shard, in shard order
 * @param trainersFiles what trainers keep beside the shards; those who do not know what is in them leave them as they are
 */
public record Manifest(String job, String run, String mode, SnapshotKind kind, long step, int pass, long version,
    boolean fuzzy, String parent, String parentChecksum, ModelLayout model, List<Trainer> trainers, List<FileEntry> files,
    List<FileEntry> trainersFiles) {

  static final String TRAINERS_FILES = "trainers_files";
  private static final String FORMAT = "regatta-snapshot-1";
  private static final String PER_SERVER = "shards_per_server";
  private static final String SPARSE = "sparse_shards";

  /**
   * How far a trainer was, and who it was: its pushes up to that sequence are inside.
   *
   * @param steps pushes of it that are inside
   * @param sequences of the last push, by shard
   * @param cursor where reading of data goes on, as the reader writes it; empty: after {@code steps} batches
   */
  public record Trainer(int rank, long incarnation, long steps, List<Long> sequences, JsonObject cursor) {

    /** Another one that is where this one is. */
    public Trainer as(int otherRank) {
      return new Trainer(otherRank, incarnation, steps, sequences, cursor);
    }

    JsonObject toJson() {
      return new JsonObject().put("rank", rank).put("incarnation", incarnation).put("steps", steps)
          .put("sequences", new JsonArray(sequences)).put("cursor", cursor);
    }

    static Trainer of(JsonObject json) {
      return new Trainer(json.getInteger("rank"), json.getLong("incarnation"), json.getLong("steps"),
          json.getJsonArray("sequences").stream().map(n -> ((Number) n).longValue()).toList(),
          json.getJsonObject("cursor", new JsonObject()));
    }
  }

  public Manifest {
    trainers = List.copyOf(trainers);
    files = List.copyOf(files);
    trainersFiles = List.copyOf(trainersFiles);
  }

  /** One of a job whose trainers keep nothing. */
  public Manifest(String job, String run, String mode, SnapshotKind kind, long step, int pass, long version, boolean fuzzy,
      String parent, String parentChecksum, ModelLayout model, List<Trainer> trainers, List<FileEntry> files) {
    this(job, run, mode, kind, step, pass, version, fuzzy, parent, parentChecksum, model, trainers, files, List.of());
  }

  /** Whether a manifest is that of a snapshot. */
  static boolean is(JsonObject json) {
    return FORMAT.equals(json.getString("format"));
  }

  /** Reads and checks it; the files are not looked at. */
  public static Manifest read(Path dir) {
    return of(dir, ManifestFile.read(dir));
  }

  /** The same of what has been read there. */
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
        .put("mode", mode).put("step", step).put("pass", pass).put("version", version).put("fuzzy", fuzzy)
        .put("parent", parent).put("parent_checksum", parentChecksum).put("shards", model.shards());
    if (model.sharding().isApart()) {
      json.put(PER_SERVER, model.sharding().perServer()).put(SPARSE, model.sharding().sparsePerServer());
    }
    return json.put("model", model.toJson()).put("trainers", marks).put("files", json(files))
        .put(TRAINERS_FILES, json(trainersFiles));
  }

  private static JsonArray json(List<FileEntry> entries) {
    JsonArray json = new JsonArray();
    entries.forEach(entry -> json.add(entry.toJson()));
    return json;
  }

  /** Of those that a manifest lists under this key; none if it has no such list. */
  static List<FileEntry> files(JsonObject json, String key) {
    return json.getJsonArray(key, new JsonArray()).stream().map(f -> FileEntry.of((JsonObject) f)).toList();
  }

  private static Manifest of(JsonObject json) {
    List<Trainer> trainers = new ArrayList<>();
    json.getJsonArray("trainers").forEach(t -> trainers.add(Trainer.of((JsonObject) t)));
    List<FileEntry> files = files(json, "files");
    ModelLayout model = ModelLayout.of(json.getJsonObject("model"),
        new Sharding(json.getInteger("shards"), json.getInteger(PER_SERVER, 0), json.getInteger(SPARSE, 0)));
    if (files.size() != model.shards()) {
      throw new InvalidInput(files.size() + " files for " + model.shards() + " shards");
    }
    trainers.sort(Comparator.comparingInt(Trainer::rank));
    return new Manifest(json.getString("job"), text(json, "run"), json.getString("mode"), SnapshotKind.of(json.getString("kind")),
        json.getLong("step"), json.getInteger("pass"), json.getLong("version"), json.getBoolean("fuzzy"),
        json.getString("parent"), text(json, "parent_checksum"), model, trainers, files, files(json, TRAINERS_FILES));
  }

  private static String text(JsonObject json, String key) {
    String value = json.getString(key);
    if (value == null) {
      throw new InvalidInput("it has no " + key);
    }
    return value;
  }

  /** The same of other files. */
  Manifest with(SnapshotKind newKind, ModelLayout newModel, List<FileEntry> newFiles) {
    boolean delta = newKind == SnapshotKind.DELTA;
    return new Manifest(job, run, mode, newKind, step, pass, version, fuzzy, delta ? parent : "", delta ? parentChecksum : "",
        newModel, trainers, newFiles, trainersFiles);
  }
}
