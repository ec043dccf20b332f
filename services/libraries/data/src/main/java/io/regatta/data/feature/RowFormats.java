package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.RowFormat;
import io.regatta.data.file.PipeCommand;
import io.regatta.data.format.CsvRows;
import io.regatta.data.format.ParquetTable;
import java.util.List;
import java.util.Set;

/** The formats of rows with named columns, by name. Stateless. */
public final class RowFormats {

  private RowFormats() {}

  /**
   * Returns a format.
   *
   * @param name {@code csv}, {@code tsv}, {@code json} (one object per line), {@code parquet}, {@code libsvm} or {@code
   *     multislot}; for the last two see {@link SlotRows}
   * @param given names of all columns of csv and tsv files without a header (empty: they have one), and of the slots of
   *     multislot
   * @param needed columns to read, in order; a JSON object may lack them
   * @param optional further columns to read, which a file may lack
   */
  public static RowFormat<?> of(String name, List<String> given, Set<String> needed, Set<String> optional) {
    return of(name, given, needed, optional, null);
  }

  /**
   * Returns a format of files that go through a command.
   *
   * @param command null: files are read as they are
   */
  public static RowFormat<?> of(String name, List<String> given, Set<String> needed, Set<String> optional, PipeCommand command) {
    return switch (name) {
      case "csv" -> CsvRows.csv(given, needed, optional, command);
      case "tsv" -> CsvRows.tsv(given, needed, optional, command);
      case "multislot" -> SlotRows.multiSlot(given, needed, optional, command);
      case "json", "parquet", "libsvm" -> {
        if (!given.isEmpty()) {
          throw new InvalidInput("data.columns has no effect on the format " + name + ", which names its columns itself: take it out");
        }
        yield name.equals("json") ? new JsonRows(needed, optional, command) : name.equals("libsvm")
            ? SlotRows.libSvm(needed, optional, command) : new ParquetTable(needed, optional);
      }
      default -> throw new InvalidInput("the format " + name + " has no named columns: choose csv, tsv, json, parquet, libsvm or "
          + "multislot");
    };
  }
}
