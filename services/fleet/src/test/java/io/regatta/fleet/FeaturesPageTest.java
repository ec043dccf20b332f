package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Schema;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.FeatureConfig;
import io.regatta.training.config.FeatureConfig.Kind;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * docs/features.md lists every kind of feature and every key with the kinds on which it has an effect, as the record itself
 * checks it: {@code -Dregatta.docs.update=true} writes the tables anew.
 */
class FeaturesPageTest {

  private static final GeneratedPage PAGE = new GeneratedPage("docs/features.md");
  /** A value of each key that is not its default. */
  private static final Map<String, Object> OTHER = Map.ofEntries(Map.entry("column", "c"), Map.entry("missing", "refuse"),
      Map.entry("table", "t"), Map.entry("hash_buckets", 9), Map.entry("min_count", 2), Map.entry("vocabulary", JsonArray.of("a")),
      Map.entry("whole", true), Map.entry("clip", JsonArray.of(0, 1)), Map.entry("transform", "log"), Map.entry("power", 2),
      Map.entry("scale", "none"), Map.entry("fill", 1), Map.entry("bounds", JsonArray.of(1, 2)), Map.entry("quantiles", 4),
      Map.entry("separator", ";"), Map.entry("weight_separator", ":"), Map.entry("max", 3), Map.entry("pooling", "mean"),
      Map.entry("keep", "first"), Map.entry("of", JsonArray.of("a", "b")), Map.entry("ngrams", 2), Map.entry("format", "epoch_s"),
      Map.entry("zone", "Europe/Paris"), Map.entry("parts", JsonArray.of("hour")), Map.entry("since", "2020-01-31"));

  private static String word(Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  private static List<Schema.Entry> keys() {
    return Settings.describe(FeatureConfig.class).stream().filter(entry -> !entry.key().equals("kind")).toList();
  }

  /** Returns the kinds of features that do not refuse a key for having no effect on them. */
  private static List<Kind> kinds(String key) {
    assertThat(OTHER).as("a value of " + key + " for this test").containsKey(key);
    return Stream.of(Kind.values()).filter(kind -> {
      try {
        Settings.bind(new JsonObject().put("kind", word(kind)).put(key, OTHER.get(key)), FeatureConfig.class);
        return true;
      } catch (InvalidInput e) {
        return !e.getMessage().contains("has no effect on kind");
      }
    }).toList();
  }

  @Test
  void lists_every_kind() throws IOException {
    String doc = Settings.describe(FeatureConfig.class).stream().filter(entry -> entry.key().equals("kind")).findFirst().orElseThrow().doc();
    StringBuilder table = new StringBuilder("| Kind | A column as | Keys |\n|---|---|---|\n");
    for (Kind kind : Kind.values()) {
      Matcher meaning = Pattern.compile("(?:^| )" + word(kind) + ": ([^.]*)\\.").matcher(doc);
      assertThat(meaning.find()).as(kind + " in: " + doc).isTrue();
      table.append("| `").append(word(kind)).append("` | ").append(meaning.group(1)).append(" | ").append(keys().stream().map(Schema.Entry::key)
          .filter(key -> kinds(key).contains(kind)).map(key -> "`" + key + "`").collect(Collectors.joining(", "))).append(" |\n");
    }
    PAGE.holds("kinds", table.toString());
  }

  @Test
  void lists_every_key() throws IOException {
    StringBuilder table = new StringBuilder("| Key | Default | Meaning |\n|---|---|---|\n");
    for (Schema.Entry entry : keys()) {
      assertThat(kinds(entry.key())).as(entry.key()).isNotEmpty();
      table.append("| `").append(entry.key()).append("` | ").append(entry.defaultValue().isEmpty() ? "empty" : "`"
          + entry.defaultValue().replace("|", "\\|") + "`").append(" | ").append(entry.doc().replace("|", "\\|")).append(" |\n");
    }
    PAGE.holds("keys", table.toString());
  }
}
