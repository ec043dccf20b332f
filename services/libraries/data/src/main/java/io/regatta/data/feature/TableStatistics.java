package io.regatta.data.feature;

import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.sketch.ValueCounts.Counted;
import io.regatta.data.column.ColumnFacts;
import io.regatta.data.feature.RowSplit.Boundaries;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The statistics of the training rows of a table. Immutable.
 *
 * @param facts counts of rows, for people and for commands
 * @param features the statistics from which features are computed
 * @param boundaries the first validation and test rows, if rows are split by position
 * @param values of each vocabulary, with their counts, by namespace
 * @param basis the declarations for which they were computed
 */
public record TableStatistics(Facts facts, FeatureStatistics features, Boundaries boundaries, List<FileFact> files,
    Map<String, List<Counted>> values, Basis basis) {

  /**
   * The declarations for which statistics were computed. Others need other statistics.
   *
   * @param features digest of the features' declarations in hexadecimal; empty: not known
   * @param test the rows that were left out, as {@link RowParts} writes them; empty: none
   */
  public record Basis(String features, String test) {

    /** The basis of statistics that no analysis has written: it is not known. */
    public static final Basis UNKNOWN = new Basis("", "");
  }

  /** A file that was read: its name in messages, its size, and its rows. */
  public record FileFact(String name, long bytes, long rows) {}

  /**
   * Counts of the training rows.
   *
   * @param rows that are good
   * @param badLines rows that are not; 0 unless they are skipped
   * @param columns facts of the good rows' columns, by name in their order
   */
  public record Facts(long rows, long badLines, Map<String, ColumnFacts> columns) {

    public Facts {
      columns = Collections.unmodifiableMap(new LinkedHashMap<>(columns));
    }
  }

  public TableStatistics {
    files = List.copyOf(files);
    values = Map.copyOf(values);
  }

  /** Returns the same statistics with a basis. */
  public TableStatistics basedOn(Basis on) {
    return new TableStatistics(facts, features, boundaries, files, values, on);
  }
}
