package io.regatta.fleet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.core.error.RegattaException.InvalidInput;
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
 * The parameters in a saved model's directory, to be compared with another's. Reads every safetensors file there:
 * float32 tensors by name, and tables, whose ids stand in a tensor named {@code TABLE.ids} beside {@code TABLE.rows},
 * by id. Immutable; reading blocks.
 */
final class SavedParameters {

  private static final String IDS = ".ids";
  private static final String ROWS = ".rows";

  private final Map<String, float[]> dense = new TreeMap<>();
  /** By table and id. */
  private final Map<String, Map<Long, float[]>> rows = new TreeMap<>();

  private SavedParameters() {}

  static SavedParameters read(Path dir) {
    SavedParameters saved = new SavedParameters();
    Map<String, long[]> ids = new TreeMap<>();
    try (Stream<Path> files = Files.list(dir)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".safetensors")).sorted().toList()) {
        saved.add(file, ids);
      }
    } catch (IOException e) {
      throw new InvalidInput("saved model " + dir + " cannot be read: " + e.getMessage(), e);
    }
    saved.nameRows(ids);
    return saved;
  }

  /** safetensors: 8 bytes header length, JSON header with types, shapes and offsets, data. */
  private void add(Path file, Map<String, long[]> ids) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    int headerLength = Math.toIntExact(bytes.getLong());
    JsonNode header = new ObjectMapper().readTree(new String(bytes.array(), 8, headerLength, StandardCharsets.UTF_8));
    for (Map.Entry<String, JsonNode> tensor : header.properties()) {
      if (tensor.getKey().equals("__metadata__")) {
        continue;
      }
      JsonNode offsets = tensor.getValue().get("data_offsets");
      int from = 8 + headerLength + offsets.get(0).asInt();
      ByteBuffer data = bytes.slice(from, offsets.get(1).asInt() - offsets.get(0).asInt()).order(ByteOrder.LITTLE_ENDIAN);
      if (tensor.getKey().endsWith(IDS)) {
        long[] values = new long[data.remaining() / Long.BYTES];
        data.asLongBuffer().get(values);
        ids.put(tensor.getKey().substring(0, tensor.getKey().length() - IDS.length()), values);
      } else {
        float[] values = new float[data.remaining() / Float.BYTES];
        data.asFloatBuffer().get(values);
        dense.put(tensor.getKey(), values);
      }
    }
  }

  private void nameRows(Map<String, long[]> ids) {
    ids.forEach((table, tableIds) -> {
      float[] values = dense.remove(table + ROWS);
      int dim = tableIds.length == 0 ? 0 : values.length / tableIds.length;
      Map<Long, float[]> byId = new HashMap<>();
      for (int row = 0; row < tableIds.length; row++) {
        byId.put(tableIds[row], Arrays.copyOfRange(values, row * dim, (row + 1) * dim));
      }
      rows.put(table, byId);
    });
  }

  /**
   * ‖this - other‖₂ / ‖this‖₂ over all dense parameters and the rows that both hold; infinite if the variables, the
   * tables or their shapes differ.
   */
  double distance(SavedParameters other) {
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
