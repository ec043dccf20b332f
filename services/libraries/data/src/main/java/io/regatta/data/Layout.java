package io.regatta.data;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Collections;
import java.util.List;

/**
 * The widths of an example: {@code dense} float features, sparse features (slots) of 64-bit ids, and labels. Immutable.
 *
 * @param widths most ids of each slot; positions without an id hold {@link io.regatta.core.reduce.DistinctIds#PADDING}
 * @param valued true if every id has a float value
 * @param emptyIds for each slot, the id that stands for an empty value; an empty list if empty values have no id
 * @param labels floats of an example that are no input: its labels, and keys such as its group
 */
@RecordBuilder
public record Layout(int dense, List<Integer> widths, boolean valued, List<Long> emptyIds, int labels) implements LayoutBuilder.With {

  public Layout {
    widths = List.copyOf(widths);
    emptyIds = List.copyOf(emptyIds);
    if (dense < 0 || dense + widths.size() == 0) {
      throw new InvalidInput("an example needs at least one feature, but dense=" + dense + " and slots=" + widths.size());
    }
    if (widths.stream().anyMatch(width -> width < 1)) {
      throw new InvalidInput("each slot must hold at least one id, but the widths are " + widths);
    }
    if (labels < 0) {
      throw new InvalidInput("an example cannot have " + labels + " labels");
    }
  }

  /** Creates a layout with one label. */
  public Layout(int dense, List<Integer> widths, boolean valued, List<Long> emptyIds) {
    this(dense, widths, valued, emptyIds, 1);
  }

  /** Creates a layout whose empty values have no ids, with one label. */
  public Layout(int dense, List<Integer> widths, boolean valued) {
    this(dense, widths, valued, List.of());
  }

  /** Creates a layout with slots of one id each, without values. */
  public Layout(int dense, int slots) {
    this(dense, Collections.nCopies(Math.max(0, slots), 1), false);
  }

  public int slots() {
    return widths.size();
  }

  /** Returns the number of id positions of an example; equal to the slots if each holds one id. */
  public int columns() {
    int columns = 0;
    for (int width : widths) {
      columns += width;
    }
    return columns;
  }

  /** Returns true if each slot is the sum over its ids, because a slot may hold several or ids have values. */
  public boolean pooled() {
    return valued || columns() > slots();
  }
}
