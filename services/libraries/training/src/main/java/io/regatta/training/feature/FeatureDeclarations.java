package io.regatta.training.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.BucketFeature;
import io.regatta.core.feature.CrossFeature;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.IdCoding;
import io.regatta.core.feature.IdFeature;
import io.regatta.core.feature.IdsFeature;
import io.regatta.core.feature.NumberFeature;
import io.regatta.core.feature.SequenceFeature;
import io.regatta.core.feature.TextFeature;
import io.regatta.core.feature.TimeFeature;
import io.regatta.training.config.FeatureConfig;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The features of a job's section {@code features}, ranges of names expanded. Stateless. */
final class FeatureDeclarations {

  private static final Set<String> FORMATS = Set.of("epoch_s", "epoch_ms", "iso");

  private FeatureDeclarations() {}

  /** Returns the features in the order of the job. */
  static List<Feature> features(Map<String, FeatureConfig> declared) {
    List<Feature> features = new ArrayList<>();
    declared.forEach((text, config) -> {
      List<String> names = NameRange.names("features", text);
      List<String> columns = columns(text, names, config);
      for (int i = 0; i < names.size(); i++) {
        features.add(feature(names.get(i), columns.get(i), config));
      }
    });
    return features;
  }

  private static List<String> columns(String text, List<String> names, FeatureConfig config) {
    List<String> columns = config.column().isEmpty() ? names : NameRange.names("features." + text + ".column", config.column());
    if (columns.size() != names.size()) {
      throw new InvalidInput("features." + text + " stands for " + names.size() + " features, but column " + config.column()
          + " for " + columns.size() + (columns.size() == 1 ? " column" : " columns") + "; give as many, or leave column out");
    }
    return columns;
  }

  private static Feature feature(String name, String column, FeatureConfig config) {
    Feature.Missing missing = Feature.Missing.valueOf(config.missing().name());
    Feature.Pooling pooling = Feature.Pooling.valueOf(config.pooling().name());
    IdCoding coding = new IdCoding(config.table().isEmpty() ? name : config.table(), config.minCount(), config.hashBuckets(),
        config.vocabulary(), config.whole());
    return switch (config.kind()) {
      case ID -> new IdFeature(name, column, missing, coding);
      case NUMBER -> new NumberFeature(name, column, missing, config.fill(),
          config.clip().isEmpty() ? Double.NEGATIVE_INFINITY : config.clip().get(0),
          config.clip().isEmpty() ? Double.POSITIVE_INFINITY : config.clip().get(1),
          NumberFeature.Transform.valueOf(config.transform().name()), config.power(),
          NumberFeature.Scale.valueOf(config.scale().name()));
      case BUCKET -> new BucketFeature(name, column, missing, name, config.bounds(), config.quantiles());
      case IDS -> new IdsFeature(name, column, missing, config.separator(), config.weightSeparator(), config.max(), pooling, coding);
      case SEQUENCE -> new SequenceFeature(name, column, missing, config.separator(), config.max(),
          SequenceFeature.Keep.valueOf(config.keep().name()), coding);
      case CROSS -> new CrossFeature(name, name, NameRange.names("features." + name + ".of", config.of()));
      case TEXT -> new TextFeature(name, column, missing, config.ngrams(), config.max(), pooling, coding);
      case TIME -> time(name, column, missing, config);
    };
  }

  private static Feature time(String name, String column, Feature.Missing missing, FeatureConfig config) {
    boolean named = FORMATS.contains(config.format());
    try {
      return new TimeFeature(name, column, missing,
          named ? TimeFeature.Format.valueOf(config.format().toUpperCase(Locale.ROOT)) : TimeFeature.Format.PATTERN,
          named ? "" : config.format(), ZoneId.of(config.zone()),
          config.parts().stream().map(part -> TimeFeature.Part.valueOf(part.name())).toList(),
          config.since().isEmpty() ? null : LocalDate.parse(config.since()));
    } catch (DateTimeException e) {
      throw new InvalidInput("features." + name + ": zone " + config.zone() + (config.since().isEmpty() ? "" : " or since "
          + config.since()) + " cannot be read (" + e.getMessage() + "); write them as Europe/Paris and 2020-01-31", e);
    }
  }
}
