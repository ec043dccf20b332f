package io.regatta.data.uci;

import de.siegmar.fastcsv.reader.CloseableIterator;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvRecord;
import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The line format of the {@link Census} data; {@code |} begins a comment, which is no example. Immutable; any thread
 * may use it.
 */
public final class CensusFormat implements LineFormat {

  private final CensusFeatures features = new CensusFeatures();

  @Override
  public String name() {
    return "census";
  }

  @Override
  public Layout layout() {
    return CensusFeatures.LAYOUT;
  }

  @Override
  public boolean parse(Line line, SlotBatch into, int row, BadLines badLines) {
    try (CloseableIterator<CsvRecord> records = Census.csv().ofCsvRecord(line.text()).iterator()) {
      if (!records.hasNext()) {
        return false;
      }
      CsvRecord record = records.next();
      if (!Census.good(line.file(), line.number(), record, badLines)) {
        return false;
      }
      Census.fill(features, record, into, row);
      return true;
    } catch (CsvParseException e) {
      return badLines.report(line, "column 1", e.getMessage());
    } catch (IOException e) { // cannot happen for text in memory
      throw new UncheckedIOException(e);
    }
  }
}
