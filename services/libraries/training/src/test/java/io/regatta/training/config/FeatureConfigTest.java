package io.regatta.training.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Settings;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FeatureConfigTest {

  /** A job's features, bound as a job binds them. */
  private record Features(Map<String, FeatureConfig> features) {}

  private static FeatureConfig feature(String json) {
    return Settings.bind(new JsonObject().put("features", new JsonObject().put("x", new JsonObject(json))), Features.class)
        .features().get("x");
  }

  private static ModelConfig model(String json) {
    return Settings.bind(new JsonObject(json), ModelConfig.class);
  }

  private static JsonObject least(FeatureConfig.Kind kind) {
    JsonObject json = new JsonObject().put("kind", kind.name().toLowerCase(Locale.ROOT));
    return switch (kind) {
      case BUCKET -> json.put("quantiles", 20);
      case CROSS -> json.put("of", JsonArray.of("a", "b"));
      default -> json;
    };
  }

  @ParameterizedTest
  @EnumSource(FeatureConfig.Kind.class)
  void bindsEachKindWithFewKeys(FeatureConfig.Kind kind) {
    assertThat(feature(least(kind).encode()).kind()).isEqualTo(kind);
  }

  /** Every key is refused on each kind that does not read it: the oracle is the table of keys by kind. */
  @ParameterizedTest
  @CsvSource(delimiter = ';', value = {
      "table; \"t\"; id ids sequence text", "hash_buckets; 8; id ids sequence text", "min_count; 3; id ids sequence text",
      "vocabulary; [\"a\"]; id ids sequence text", "whole; true; id ids sequence", "clip; [0, 1]; number", "transform; \"log\"; number",
      "scale; \"none\"; number", "fill; 1; number", "separator; \",\"; ids sequence", "weight_separator; \":\"; ids",
      "max; 5; ids sequence text", "pooling; \"mean\"; ids text", "keep; \"first\"; sequence", "ngrams; 2; text",
      "format; \"epoch_s\"; time", "zone; \"Asia/Tokyo\"; time", "parts; [\"day\"]; time",
      "column; \"c\"; id number bucket ids sequence text time", "missing; \"none\"; id number bucket ids sequence text time"})
  void refusesAKeyWithoutEffectOnTheKind(String key, String value, String kinds) {
    for (FeatureConfig.Kind kind : FeatureConfig.Kind.values()) {
      String json = least(kind).mergeIn(new JsonObject("{\"" + key + "\": " + value + "}")).encode();
      String word = kind.name().toLowerCase(Locale.ROOT);
      if (List.of(kinds.strip().split(" ")).contains(word)) {
        assertThat(feature(json).kind()).isEqualTo(kind);
      } else {
        assertThatThrownBy(() -> feature(json)).isInstanceOf(InvalidInput.class)
            .hasMessageContaining("section 'features.x': " + key + " has no effect on kind " + word + "; take it out, or set kind: ");
      }
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = ';', quoteCharacter = '`', value = {
      "{\"kind\": \"bucket\"}; has either bounds or quantiles",
      "{\"kind\": \"bucket\", \"bounds\": [1], \"quantiles\": 3}; has either bounds or quantiles",
      "{\"kind\": \"bucket\", \"bounds\": [1, 1]}; bounds must rise, but 1.0 comes after 1.0",
      "{\"kind\": \"bucket\", \"quantiles\": 1}; quantiles must be 2 to 10000",
      "{\"kind\": \"cross\", \"of\": [\"a\"]}; of must name two or more different features",
      "{\"kind\": \"cross\", \"of\": [\"a\", \"a\"]}; of must name two or more different features",
      "{\"kind\": \"number\", \"clip\": [1]}; clip must be the least and the greatest value",
      "{\"kind\": \"number\", \"clip\": [2, 1]}; clip must be the least and the greatest value",
      "{\"kind\": \"number\", \"power\": 2}; power has no effect with transform: none",
      "{\"kind\": \"number\", \"transform\": \"power\", \"power\": 0}; power must be more than 0",
      "{\"kind\": \"id\", \"min_count\": 0}; min_count must be at least 1",
      "{\"kind\": \"id\", \"min_count\": 2, \"vocabulary\": [\"a\"]}; both say which values are known",
      "{\"kind\": \"id\", \"min_count\": 2, \"hash_buckets\": 9}; hash_buckets has no rare or unknown values",
      "{\"kind\": \"ids\", \"max\": 0}; max must be 1 to 10000",
      "{\"kind\": \"ids\", \"separator\": \"\"}; separator is empty",
      "{\"kind\": \"text\", \"ngrams\": 0}; ngrams must be 1 to 10",
      "{\"kind\": \"time\", \"parts\": []}; parts must name one or more",
      "{\"kind\": \"time\", \"parts\": [\"age_days\"]}; since is missing",
      "{\"kind\": \"time\", \"since\": \"2020-01-01\"}; since has no effect without age_days",
      "{\"kind\": \"idd\"}; expected id | number | bucket",
      "{\"kind\": \"id\", \"min_cout\": 2}; min_count"})
  void namesWhatIsWrong(String json, String message) {
    assertThatThrownBy(() -> feature(json)).isInstanceOf(InvalidInput.class).hasMessageContaining(message)
        .hasMessageContaining("features.x");
  }

  @Test
  void aModelRefusesKeysOfPartsThatItLacks() {
    assertThat(model("{\"kind\": \"deepfm\", \"hidden\": [8], \"dropout\": 0.1}").hidden()).containsExactly(8);
    assertThatThrownBy(() -> model("{\"kind\": \"fm\", \"hidden\": [8]}")).isInstanceOf(InvalidInput.class)
        .hasMessage("hidden has no effect on kind fm; take it out, or set kind: wide_and_deep or deepfm or dcn_v2 or dlrm or din or "
        + "mmoe or esmm or two_towers");
    assertThatThrownBy(() -> model("{\"kind\": \"logistic_regression\", \"embedding\": 4}")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("embedding has no effect on kind logistic_regression");
    assertThatThrownBy(() -> model("{\"kind\": \"deepfm\", \"cross_rank\": 4}")).hasMessageContaining("set kind: dcn_v2");
    assertThatThrownBy(() -> model("{\"embedding\": 4}")).hasMessageContaining("embedding has no effect on kind none");
    assertThatThrownBy(() -> model("{\"kind\": \"dcn_v2\", \"dropout\": 1}")).hasMessageContaining("dropout must be from 0");
  }

  @Test
  void aModelIsTrainedByTheProgramOfTables() {
    String rest = "\"features\": {\"x\": {\"kind\": \"id\"}}, \"labels\": {\"y\": {}}, \"model\": {\"kind\": \"fm\"}";
    assertThat(JobConfig.of(new JsonObject("{\"job\": \"j\", " + rest + "}")).program()).isEqualTo("io.regatta.program.TabularProgram");
    assertThat(JobConfig.of(new JsonObject("{\"job\": \"j\", \"program\": \"a.B\", " + rest + "}")).program()).isEqualTo("a.B");
  }

  @Test
  void sectionsWithoutTheirOthersAreRefused() {
    assertThatThrownBy(() -> JobConfig.of(new JsonObject("{\"job\": \"j\", \"model\": {\"kind\": \"fm\"}}")))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("model: features is missing");
    assertThatThrownBy(() -> JobConfig.of(new JsonObject("{\"job\": \"j\", \"features\": {\"x\": {\"kind\": \"id\"}}, "
        + "\"model\": {\"kind\": \"fm\"}}"))).hasMessageContaining("model: labels is missing");
    assertThatThrownBy(() -> JobConfig.of(new JsonObject("{\"job\": \"j\", \"labels\": {\"a\": {\"negative_rate\": 0.5}, \"b\": {}}}")))
        .hasMessageContaining("there are several labels");
    assertThatThrownBy(() -> JobConfig.of(new JsonObject("{\"job\": \"j\", \"labels\": {\"a\": {\"kind\": \"rank\", \"group\": \"g\"}, "
        + "\"b\": {\"kind\": \"rank\", \"group\": \"g\"}}}"))).hasMessageContaining("several are of kind rank");
    for (String key : List.of("\"format\": \"csv\", \"columns\": [\"a\"]", "\"statistics\": \"s\"", "\"test\": {\"share\": 0.2}")) {
      assertThatThrownBy(() -> JobConfig.of(new JsonObject("{\"job\": \"j\", \"data\": {" + key + "}}"))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("has no effect without features");
    }
  }

  @Test
  void testRowsComeFromOnePlace() {
    assertThatThrownBy(() -> data("{\"test_files\": [\"t\"], \"test\": {\"share\": 0.2}}"))
        .hasMessageContaining("test_files and test both give test rows");
    assertThatThrownBy(() -> data("{\"test\": {\"share\": 1}}")).hasMessageContaining("share must be from 0 to less than 1");
    assertThatThrownBy(() -> data("{\"test\": {\"by\": \"hash\"}}")).hasMessageContaining("by has no effect without share");
    assertThatThrownBy(() -> data("{\"format\": \"parquet\", \"columns\": [\"a\"]}"))
        .hasMessageContaining("columns has no effect with format: parquet");
    assertThat(data("{\"format\": \"json\", \"pipe_command\": \"zcat\"}").format()).isEqualTo(DataConfig.Format.JSON);
    assertThatThrownBy(() -> data("{\"format\": \"tsv\", \"pipe_command\": \"zcat\"}")).hasMessageContaining("leave pipe_command out");
  }

  private static DataConfig data(String json) {
    return Settings.bind(new JsonObject(json), DataConfig.class);
  }
}
