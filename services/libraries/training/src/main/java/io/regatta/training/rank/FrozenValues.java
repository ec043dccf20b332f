package io.regatta.training.rank;

import io.regatta.training.model.DenseParameters;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The values of a replica's parameters that are not trained (running means), by name. They stay readable after the
 * trainer is closed, for a model that is saved then. Belongs to its model thread.
 */
final class FrozenValues implements RankState.Frozen {

  private final DenseParameters dense;
  /** Values of a closed trainer; null before. */
  private Map<String, float[]> last;

  FrozenValues(DenseParameters dense) {
    this.dense = dense;
  }

  @Override
  public Map<String, float[]> values() {
    return last != null ? last : dense.frozenValues();
  }

  @Override
  public void set(Map<String, float[]> values) {
    if (last != null) {
      last = values;
    } else {
      dense.writeFrozen(values);
    }
  }

  /** Takes over those of a snapshot, as far as this model has the same. */
  void take(Map<String, float[]> kept) {
    if (!kept.isEmpty()) {
      Map<String, float[]> values = new HashMap<>(values());
      values.replaceAll((name, own) -> kept.containsKey(name) && kept.get(name).length == own.length ? kept.get(name) : own);
      set(values);
    }
  }

  /**
   * Averages the values over the ranks.
   *
   * @param mean replaces values, concatenated, by their mean over the ranks
   */
  void average(Consumer<float[]> mean) {
    Map<String, float[]> own = new LinkedHashMap<>(values());
    if (own.isEmpty()) {
      return; // on no rank: no rank waits, and one that is lost by now is not missed
    }
    float[] flat = new float[own.values().stream().mapToInt(v -> v.length).sum()];
    int off = 0;
    for (float[] value : own.values()) {
      System.arraycopy(value, 0, flat, off, value.length);
      off += value.length;
    }
    mean.accept(flat);
    off = 0;
    for (Map.Entry<String, float[]> of : own.entrySet()) {
      float[] value = new float[of.getValue().length];
      System.arraycopy(flat, off, value, 0, value.length);
      of.setValue(value);
      off += value.length;
    }
    set(own);
  }

  /** Keeps the values of a trainer that is being closed. */
  void close() {
    last = dense.frozenValues();
  }
}
