package io.regatta.data.column;

import io.regatta.core.feature.InputRow;
import io.regatta.core.hash.Mix64;
import io.regatta.core.hash.XxHash64;
import io.regatta.core.sketch.DistinctCount;
import io.regatta.core.sketch.Moments;
import io.regatta.core.sketch.QuantileSketch;
import io.regatta.core.text.Decimal;
import java.util.Optional;

/** A summary of the values of one column, from which its facts follow. One owner. */
public final class ColumnSummary {

  private static final int QUANTILES_K = 1 << 10;
  private static final long MISSING = Mix64.GOLDEN;
  private static final int DATE_LENGTH = 10;

  private final DistinctCount distinct = new DistinctCount();
  private final Moments moments = new Moments();
  private final QuantileSketch quantiles;
  private final ColumnAuc auc;
  private long rows;
  private long missing;
  private long wholes;
  private long fractions;
  private long times;
  private long lists;

  /** @param seed of random bits; a function of the column and of the rows' position */
  public ColumnSummary(long seed) {
    quantiles = new QuantileSketch(QUANTILES_K, seed);
    auc = new ColumnAuc(seed);
  }

  /**
   * Adds the value of a row.
   *
   * @param label of the row; neither 0 nor 1: it is not known, or not binary
   */
  public void add(InputRow row, int column, float label) {
    rows++;
    long hash = MISSING;
    double number = Double.NaN;
    switch (row.type(column)) {
      case MISSING -> missing++;
      case WHOLE -> {
        number = row.whole(column);
        hash = Mix64.mix(row.whole(column));
        wholes++;
      }
      case NUMBER -> {
        number = row.number(column);
        hash = Mix64.mix(Double.doubleToLongBits(number));
        fractions++;
      }
      case TEXT -> {
        byte[] text = row.bytes(column);
        int from = row.from(column);
        int to = row.to(column);
        hash = XxHash64.of(text, from, to, 0);
        number = Decimal.parse(text, from, to);
        if (number == number) {
          boolean whole = isWhole(text, from, to);
          wholes += whole ? 1 : 0;
          fractions += whole ? 0 : 1;
        } else if (isDate(text, from, to)) {
          times++;
        }
      }
      case TEXTS -> {
        hash = Mix64.mix(row.texts(column).stream().mapToLong(each -> XxHash64.of(each, 0, each.length, 0)).sum());
        lists++;
      }
    }
    if (hash != MISSING) {
      distinct.add(hash);
    }
    if (Double.isFinite(number)) {
      moments.add(number);
      quantiles.add(number);
    }
    if (label == 0 || label == 1) {
      auc.add(hash, number, (int) label, rows);
    }
  }

  private static boolean isWhole(byte[] text, int from, int to) {
    for (int i = from; i < to; i++) {
      if (text[i] == '.' || text[i] == 'e' || text[i] == 'E') {
        return false;
      }
    }
    return true;
  }

  private static boolean isDate(byte[] text, int from, int to) {
    if (to - from < DATE_LENGTH) {
      return false;
    }
    for (int i = 0; i < DATE_LENGTH; i++) {
      byte b = text[from + i];
      if (i == 4 || i == 7 ? b != '-' : b < '0' || b > '9') {
        return false;
      }
    }
    return true;
  }

  /** Adds the rows of another one, which follow. */
  public void merge(ColumnSummary next) {
    rows += next.rows;
    missing += next.missing;
    wholes += next.wholes;
    fractions += next.fractions;
    times += next.times;
    lists += next.lists;
    distinct.merge(next.distinct);
    moments.merge(next.moments);
    quantiles.merge(next.quantiles);
    auc.merge(next.auc);
  }

  /** Returns the facts of all rows so far. */
  public ColumnFacts facts() {
    long present = rows - missing;
    long numeric = wholes + fractions;
    ColumnFacts.Type type = present == 0 ? ColumnFacts.Type.EMPTY : wholes == present ? ColumnFacts.Type.WHOLE
        : numeric == present ? ColumnFacts.Type.NUMBER : times == present ? ColumnFacts.Type.TIME
        : lists == present ? ColumnFacts.Type.LIST : ColumnFacts.Type.TEXT;
    boolean ordered = 2 * numeric > present;
    Optional<ColumnFacts.Numbers> numbers = !ordered || moments.count() == 0 ? Optional.empty()
        : Optional.of(new ColumnFacts.Numbers(moments.min(), moments.max(), moments.mean(), moments.deviation(),
            ColumnFacts.Numbers.RANKS.stream().map(quantiles::quantile).toList(),
            quantiles.isExact() ? 0 : QuantileSketch.error(QUANTILES_K)));
    return new ColumnFacts(type, rows, missing, distinct.count(), distinct.isExact() ? 0 : DistinctCount.ERROR, numbers,
        auc.value(ordered));
  }
}
