package io.regatta.data.feature;

import io.regatta.core.feature.BadValue;
import io.regatta.core.feature.InputRow;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Several labels and keys of an example, side by side. Immutable. */
public final class LabelColumns implements RowLabels {

  private final List<RowLabels> parts;
  private final List<String> columns;
  /** Indices of each part's columns among {@link #columns}. */
  private final int[][] indices;
  private final int width;

  /** @param parts in the order of their floats */
  public LabelColumns(List<? extends RowLabels> parts) {
    this.parts = List.copyOf(parts);
    Set<String> all = new LinkedHashSet<>();
    parts.forEach(part -> all.addAll(part.columns()));
    columns = List.copyOf(all);
    indices = parts.stream().map(part -> part.columns().stream().mapToInt(columns::indexOf).toArray()).toArray(int[][]::new);
    width = parts.stream().mapToInt(RowLabels::width).sum();
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public Set<String> required() {
    Set<String> required = new LinkedHashSet<>();
    parts.forEach(part -> required.addAll(part.required()));
    return required;
  }

  @Override
  public int width() {
    return width;
  }

  @Override
  public LabelColumns toPredict() {
    return new LabelColumns(parts.stream().map(RowLabels::toPredict).toList());
  }

  @Override
  public BadValue read(InputRow row, int[] numbers, float[] labels, int at) {
    int next = at;
    for (int i = 0; i < indices.length; i++) {
      int[] own = new int[indices[i].length];
      for (int c = 0; c < own.length; c++) {
        own[c] = numbers[indices[i][c]];
      }
      BadValue bad = parts.get(i).read(row, own, labels, next);
      if (bad != null) {
        return bad;
      }
      next += parts.get(i).width();
    }
    return null;
  }
}
