package io.regatta.data.feature;

import io.regatta.core.feature.FeatureTransform;
import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import java.util.LinkedHashSet;

/** The format of lines that are JSON objects of declared features' columns; the label may be missing. Immutable. */
public final class JsonLineFormat implements LineFormat {

  private final RowReader<NumberedLine> reader;

  /** Creates the format. */
  public JsonLineFormat(FeatureTransform transform, RowLabels labels) {
    reader = new RowReader<>(new JsonRows(new LinkedHashSet<>(transform.columns()), new LinkedHashSet<>(labels.columns()), null), transform,
        labels.toPredict());
  }

  @Override
  public String name() {
    return "json";
  }

  @Override
  public Layout layout() {
    return reader.layout();
  }

  @Override
  public boolean parse(Line line, SlotBatch into, int row, BadLines badLines) {
    return reader.read(new NumberedLine(line, 0), into, row, badLines);
  }
}
