package io.regatta.training.feature;

import io.regatta.core.feature.Feature;
import io.regatta.core.feature.IdFeature;
import io.regatta.data.feature.TableStatistics.Facts;
import io.regatta.training.config.JobConfig;
import java.util.ArrayList;
import java.util.List;

/** Columns that may mislead a model. Stateless. */
public final class MisleadingColumns {

  private MisleadingColumns() {}

  /**
   * Returns a line for each column of facts that may mislead, unless the job allows it.
   *
   * @param seen the rows of the facts, for messages: {@code training rows}
   */
  public static List<String> named(JobConfig job, Facts facts, String seen) {
    List<String> lines = new ArrayList<>();
    List<Feature> features = DeclaredFeatures.features(job);
    facts.columns().forEach((column, of) -> {
      List<Feature> readers = features.stream().filter(feature -> feature.columns().contains(column)).toList();
      if (readers.isEmpty() || job.data().allowColumns().contains(column)) {
        return;
      }
      boolean id = readers.stream().anyMatch(feature -> feature instanceof IdFeature each && each.coding().minCount() == 1
          && each.coding().hashBuckets() == 0 && each.coding().vocabulary().isEmpty());
      of.problems(id).forEach(problem -> lines.add("job " + job.job() + ": column " + column + " " + problem + " (" + seen
          + "); take its features out, or name it in data.allow_columns"));
    });
    return lines;
  }
}
