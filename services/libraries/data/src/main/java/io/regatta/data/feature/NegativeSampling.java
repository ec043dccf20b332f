package io.regatta.data.feature;

import io.regatta.core.feature.InputRow;
import io.regatta.core.hash.Mix64;
import io.regatta.data.BadLines;
import io.regatta.data.RowFormat;
import io.regatta.data.RowFormat.Place;

/**
 * A choice of the training rows of label 0: each is kept with the same probability, drawn anew in each pass. The draw is
 * a function of seed, pass, file and line, so that all workers choose the same, and a resumed run does, too. A row is
 * parsed once more for its label. One owner: a cursor.
 *
 * @param <R> a row of the format
 */
final class NegativeSampling<R> {

  private static final double UNIT = 0x1p-53;
  private static final int UNUSED_BITS = 11;

  private final RowFormat<R> rows;
  private final RowLabels labels;
  private final int[] labelColumns;
  private final double rate;
  private final long seed;
  private final InputRow input;
  private final float[] values;
  /** Bad rows are kept here, and reported when they are read into a batch. */
  private final BadLines silent = new BadLines(BadLines.Policy.SKIP, false);

  /**
   * Creates the choice of one pass.
   *
   * @param rate from 0 to 1
   * @param seed of the job
   * @param pass from 0
   */
  NegativeSampling(RowFormat<R> rows, RowLabels labels, double rate, long seed, int pass) {
    this.rows = rows;
    this.labels = labels;
    values = new float[labels.width()];
    this.rate = rate;
    this.seed = Mix64.mix(seed + Mix64.GOLDEN * (pass + 1L));
    labelColumns = labels.columns().stream().mapToInt(rows.columns()::indexOf).toArray();
    input = new InputRow(rows.columns().size());
  }

  /** Returns true if the row is trained on in this pass. */
  boolean has(R row) {
    Place place = rows.place(row);
    String name = place.file().substring(place.file().lastIndexOf('/') + 1);
    double drawn = (Mix64.mix(seed ^ Mix64.mix(Mix64.text(name) + Mix64.GOLDEN * place.line())) >>> UNUSED_BITS) * UNIT;
    return drawn < rate || !rows.read(row, input, silent) || labels.read(input, labelColumns, values, 0) != null || values[0] > 0;
  }
}
