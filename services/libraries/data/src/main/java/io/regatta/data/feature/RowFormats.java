package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.RowFormat;
import io.regatta.data.format.CsvRows;
import java.util.List;
import java.util.Set;

/** The formats of rows with named columns, by name. Stateless. */
public final class RowFormats {

  private RowFormats() {}

  /**
   * Returns a format.
   *
   * @param name {@code csv}, {@code tsv} or {@code json} (one object per line)
   * @param given names of all columns of csv and tsv files without a header; empty: they have one
   * @param needed columns to read, in order; a JSON object may lack them
   * @param optional further columns to read, which a file may lack
   */
  public static RowFormat<?> of(String name, List<String> given, Set<String> needed, Set<String> optional) {
    return switch (name) {
      case "csv" -> CsvRows.csv(given, needed, optional);
      case "tsv" -> CsvRows.tsv(given, needed, optional);
      case "json" -> {
        if (!given.isEmpty()) {
          throw new InvalidInput("data.columns has no effect on the format json, whose objects name their columns: take it out");
        }
        yield new JsonRows(needed, optional);
      }
      default -> throw new InvalidInput("the format " + name + " has no named columns: choose csv, tsv or json");
    };
  }
}
