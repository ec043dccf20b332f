package io.regatta.data.feature;

import com.fasterxml.jackson.databind.JsonNode;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.sketch.ValueCounts.Counted;
import io.regatta.data.RowFormat.Place;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The statistics of the training rows of a table. Immutable.
 *
 * @param facts about the rows and columns, for people and for commands
 * @param features the statistics from which features are computed
 * @param boundary the first test row, if rows are split by position
 * @param values of each vocabulary, with their counts, by namespace
 */
public record TableStatistics(JsonNode facts, FeatureStatistics features, Optional<Place> boundary, List<FileFact> files,
    Map<String, List<Counted>> values) {

  /** A file that was read: its name in messages, its size, and its rows. */
  public record FileFact(String name, long bytes, long rows) {}

  public TableStatistics {
    files = List.copyOf(files);
    values = Map.copyOf(values);
  }
}
