package io.regatta.trainer.save;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.trainer.djl.FleetTrainer;
import io.regatta.trainer.session.TrainerSession;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model on disk, readable by any safetensors tool: {@code dense.safetensors} (parameters by name, those that are not
 * trained included), {@code table-NAME.safetensors} per sparse table ({@code ids} int64 {@code [n]}, {@code values}
 * float32 {@code [n, dim]}, in the order in which the shards gave them; NAME is the table's, see {@link #fileName}) and {@code manifest.json} with their SHA-256.
 * All are written beside their names and moved there when all are whole, the manifest last: a save that fails leaves an
 * older model in the directory as it was. Written by the first worker, on its model thread.
 */
public final class SavedModel {

  private static final Logger LOG = LoggerFactory.getLogger(SavedModel.class);
  private static final String PART = ".part";
  private static final int HEADER_BYTES_PER_TENSOR = 256;

  private final Path dir;
  private final TrainerSession session;
  private final FleetTrainer trainer;
  private final JsonArray files = new JsonArray();
  /** Of all files begun, in order. */
  private final List<String> names = new ArrayList<>();

  private SavedModel(Path dir, TrainerSession session, FleetTrainer trainer) {
    this.dir = dir;
    this.session = session;
    this.trainer = trainer;
  }

  /**
   * Saves the servers' parameters; the caller has seen to it that nobody trains meanwhile. Blocks the calling model
   * thread until all files are in place.
   *
   * @param dir made if it is not there
   */
  public static void write(Path dir, TrainerSession session, FleetTrainer trainer) {
    SavedModel model = new SavedModel(dir, session, trainer);
    try {
      Files.createDirectories(dir);
      try {
        model.dense();
        for (SparseTableSpec table : trainer.tables()) {
          model.table(table);
        }
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
    float[] flat = session.await("pull of the dense parameters to save",
        trainer.client().pull(0, true, List.of(), false)).dense();
    int names = variables.stream().mapToInt(v -> v.name().length()).sum()
        + frozen.keySet().stream().mapToInt(String::length).sum();
    int headerBytes = names + HEADER_BYTES_PER_TENSOR * (variables.size() + frozen.size() + 1);
    add("dense.safetensors", part -> {
      try (SafetensorsWriter out = new SafetensorsWriter(part, headerBytes, metadata())) {
        int off = 0;
        for (DenseVariable v : variables) {
          out.begin();
          out.floats(Arrays.copyOfRange(flat, off, off + v.numel()));
          out.end(v.name(), "F32", v.shape());
          off += v.numel();
        }
        for (Map.Entry<String, float[]> f : frozen.entrySet()) {
          out.begin();
          out.floats(f.getValue());
          out.end(f.getKey(), "F32", List.of(f.getValue().length));
        }
        out.finish();
      }
    });
  }

  private void table(SparseTableSpec table) throws IOException {
    add(fileName(table.name()), part -> {
      try (SafetensorsWriter out = new SafetensorsWriter(part, HEADER_BYTES_PER_TENSOR * 3 + table.name().length(),
          metadata().put("table", table.name()))) {
        out.begin();
        List<long[]> ids = values(table, out);
        long rows = ids.stream().mapToLong(slice -> slice.length).sum();
        out.end("values", "F32", List.of(rows, table.dim()));
        out.begin();
        for (long[] slice : ids) {
          out.longs(slice);
        }
        out.end("ids", "I64", List.of(rows));
        out.finish();
      }
    });
  }

  /** Writes the values of all rows as they come, and gives their ids, slice by slice. */
  private List<long[]> values(SparseTableSpec table, SafetensorsWriter out) throws IOException {
    RowHandover rows = new RowHandover();
    List<long[]> ids = new ArrayList<>();
    trainer.client().export(table.name(), rows).whenComplete((v, e) -> rows.ended(e));
    try {
      String slices = "export of table " + table.name();
      for (SparseRows s = session.await(slices, rows.next()); s != null; s = session.await(slices, rows.next())) {
        out.floats(s.values());
        ids.add(s.ids());
      }
      return ids;
    } finally {
      rows.close();
    }
  }

  /**
   * File of a table: letters, digits, {@code . _ -} stay, every other byte of the name in UTF-8 is {@code %XX}, so that
   * no two tables share a file.
   */
  static String fileName(String table) {
    StringBuilder name = new StringBuilder("table-");
    for (byte b : table.getBytes(StandardCharsets.UTF_8)) {
      boolean plain = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || ".-_".indexOf(b) >= 0;
      name.append(plain ? String.valueOf((char) b) : String.format(Locale.ROOT, "%%%02X", b));
    }
    return name.append(".safetensors").toString();
  }

  private JsonObject metadata() {
    return new JsonObject().put("job", session.job().job());
  }

  /** Writes a file at the path that it is given, and leaves it closed, however it ends. */
  private interface Content {
    void writeTo(Path part) throws IOException;
  }

  /** Writes a file of the model and notes its hash. */
  private void add(String name, Content content) throws IOException {
    Path part = part(name);
    content.writeTo(part);
    files.add(new JsonObject().put("file", name).put("bytes", Files.size(part)).put("sha256", sha256(part)));
  }

  private Path part(String name) {
    names.add(name);
    return partOf(name);
  }

  /** With the rank in it: one that has been taken for dead may still be writing, or cleaning up, beside its successor. */
  private Path partOf(String name) {
    return dir.resolve(name + ".rank" + session.trainer().rank() + PART);
  }

  /** Everything is whole: moves it to its name, in the order in which it was written. */
  private void publish() throws IOException {
    for (String name : names) {
      Files.move(partOf(name), dir.resolve(name), StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /** Whatever has not been moved. */
  private void removeParts() {
    for (String name : names) {
      try {
        Files.deleteIfExists(partOf(name));
      } catch (IOException e) {
        LOG.warn("{} could not be deleted: {}", partOf(name), e.toString());
      }
    }
  }

  private static String sha256(Path file) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
        in.transferTo(java.io.OutputStream.nullOutputStream());
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private void manifest() throws IOException {
    long hash = session.await("hash of all parameters", trainer.client().digest());
    JsonArray tables = new JsonArray();
    for (SparseTableSpec t : trainer.tables()) {
      tables.add(new JsonObject().put("table", t.name()).put("dim", t.dim()));
    }
    JsonObject manifest = new JsonObject().put("job", session.job().job())
        .put("mode", spec().mode().name().toLowerCase(Locale.ROOT)).put("seed", session.job().seed())
        .put("shards", spec().shards()).put("model_digest", spec().model().digest())
        .put("parameters_hash", String.format(Locale.ROOT, "%016x", hash)).put("tables", tables).put("files", files);
    Files.writeString(part("manifest.json"), manifest.encodePrettily() + "\n");
  }
}
