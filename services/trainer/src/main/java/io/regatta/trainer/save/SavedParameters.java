package io.regatta.trainer.save;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The parameters in a saved model's directory, to be compared with another's: dense variables by name, and of each
 * {@code table-*.safetensors} the rows by id. Immutable; reading blocks.
 */
public final class SavedParameters {

  private final Map<String, float[]> dense = new TreeMap<>();
  /** By table's file and id. */
  private final Map<String, Map<Long, float[]>> rows = new TreeMap<>();

  private SavedParameters() {}

  /**
   * Reads what {@link SavedModel} wrote.
   *
   * @throws InvalidInput if the directory cannot be read
   */
  public static SavedParameters read(Path dir) {
    SavedParameters saved = new SavedParameters();
    try (Stream<Path> files = Files.list(dir)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".safetensors")).sorted().toList()) {
        Map<String, ByteBuffer> tensors = tensors(file);
        if (tensors.containsKey("ids")) {
          saved.rows.put(file.getFileName().toString(), rows(tensors.get("ids"), tensors.get("values")));
        } else {
          tensors.forEach((name, data) -> saved.dense.put(name, floats(data)));
        }
      }
    } catch (IOException e) {
      throw new InvalidInput("saved model " + dir + " cannot be read: " + e.getMessage(), e);
    }
    return saved;
  }

  /** Dense variables by name. */
  public Map<String, float[]> dense() {
    return dense;
  }

  /** safetensors: 8 bytes header length, JSON header with types, shapes and offsets, data. */
  private static Map<String, ByteBuffer> tensors(Path file) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    int headerLength = Math.toIntExact(bytes.getLong());
    JsonObject header = new JsonObject(new String(bytes.array(), Long.BYTES, headerLength, StandardCharsets.UTF_8));
    Map<String, ByteBuffer> tensors = new TreeMap<>();
    for (String name : header.fieldNames()) {
      if (!name.equals("__metadata__")) {
        JsonArray offsets = header.getJsonObject(name).getJsonArray("data_offsets");
        tensors.put(name, bytes.slice(Long.BYTES + headerLength + offsets.getInteger(0),
            offsets.getInteger(1) - offsets.getInteger(0)).order(ByteOrder.LITTLE_ENDIAN));
      }
    }
    return tensors;
  }

  private static Map<Long, float[]> rows(ByteBuffer ids, ByteBuffer values) {
    int count = ids.remaining() / Long.BYTES;
    float[] all = floats(values);
    int dim = count == 0 ? 0 : all.length / count;
    Map<Long, float[]> rows = new HashMap<>();
    for (int row = 0; row < count; row++) {
      rows.put(ids.getLong(row * Long.BYTES), Arrays.copyOfRange(all, row * dim, (row + 1) * dim));
    }
    return rows;
  }

  private static float[] floats(ByteBuffer data) {
    float[] values = new float[data.remaining() / Float.BYTES];
    data.asFloatBuffer().get(values);
    return values;
  }

  /** Whether both hold rows of the same ids in every table. */
  public boolean sameRows(SavedParameters other) {
    return rows.keySet().equals(other.rows.keySet()) && rows.entrySet().stream()
        .allMatch(table -> table.getValue().keySet().equals(other.rows.get(table.getKey()).keySet()));
  }

  /**
   * ‖this - other‖₂ / ‖this‖₂ over all dense parameters and the rows that both hold (see {@link #sameRows}); infinite if
   * the variables, the tables or their shapes differ.
   */
  public double distance(SavedParameters other) {
    Distance distance = new Distance();
    if (!dense.keySet().equals(other.dense.keySet()) || !rows.keySet().equals(other.rows.keySet())) {
      return Double.POSITIVE_INFINITY;
    }
    dense.forEach((name, values) -> distance.add(values, other.dense.get(name)));
    rows.forEach((table, byId) -> byId.forEach((id, values) -> {
      float[] others = other.rows.get(table).get(id);
      if (others != null) {
        distance.add(values, others);
      }
    }));
    return distance.value();
  }

  private static final class Distance {
    private double difference;
    private double norm;

    void add(float[] a, float[] b) {
      if (a.length != b.length) {
        difference = Double.POSITIVE_INFINITY;
        return;
      }
      for (int i = 0; i < a.length; i++) {
        double delta = (double) a[i] - b[i];
        difference += delta * delta;
        norm += (double) a[i] * a[i];
      }
    }

    double value() {
      return difference == 0 ? 0 : Math.sqrt(difference / norm);
    }
  }
}
