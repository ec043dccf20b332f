package io.regatta.training.save;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.TensorInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The parameters in a saved model's directory, to be compared with another's: dense variables by name, and the rows of
 * each {@code table-*.safetensors} by id. Immutable; reading blocks.
 */
public final class SavedParameters {

  private final Map<String, float[]> dense = new TreeMap<>();
  /** Rows by the table's file and id. */
  private final Map<String, Map<Long, float[]>> rows = new TreeMap<>();

  private SavedParameters() {}

  /**
   * Reads a directory of {@link SavedModel}.
   *
   * @throws InvalidInput if the directory cannot be read
   */
  public static SavedParameters read(Path dir) {
    SavedParameters saved = new SavedParameters();
    try (Stream<Path> files = Files.list(dir)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".safetensors")).sorted().toList()) {
        saved.add(file);
      }
    } catch (IOException e) {
      throw new InvalidInput("saved model " + dir + " cannot be read: " + e.getMessage(), e);
    }
    return saved;
  }

  /** Returns the dense variables by name. */
  public Map<String, float[]> dense() {
    return dense;
  }

  private void add(Path path) throws IOException {
    try (SafetensorsFile file = SafetensorsFile.open(path)) {
      if (file.has("ids")) {
        rows.put(path.getFileName().toString(), rows(file));
      } else {
        for (TensorInfo tensor : file.tensors()) {
          dense.put(tensor.name(), file.floats(tensor.name()));
        }
      }
    }
  }

  private static Map<Long, float[]> rows(SafetensorsFile file) throws IOException {
    long[] ids = new long[Math.toIntExact(file.tensor("ids", TensorInfo.I64).elements())];
    file.read("ids", TensorInfo.I64).longs(ids, 0, ids.length);
    SafetensorsFile.Cursor values = file.read("values", TensorInfo.F32);
    int dim = Math.toIntExact(file.tensor("values", TensorInfo.F32).shape().get(1));
    Map<Long, float[]> rows = new HashMap<>();
    for (long id : ids) {
      float[] row = new float[dim];
      values.floats(row, 0, dim);
      rows.put(id, row);
    }
    return rows;
  }

  /** Returns true if both hold rows of the same ids in every table. */
  public boolean sameRows(SavedParameters other) {
    return rows.keySet().equals(other.rows.keySet()) && rows.entrySet().stream()
        .allMatch(table -> table.getValue().keySet().equals(other.rows.get(table.getKey()).keySet()));
  }

  /**
   * Returns ‖this - other‖₂ / ‖this‖₂ over all dense parameters and the rows that both hold (see {@link #sameRows});
   * infinite if the variables, the tables or their shapes differ.
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
