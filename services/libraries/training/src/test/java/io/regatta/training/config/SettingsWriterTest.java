package io.regatta.training.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.settings.Settings;
import io.regatta.node.settings.SettingsWriter;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** A record that is bound to the JSON of a record equals it, through text as in a file. */
class SettingsWriterTest {

  private static <R extends Record> R again(R record, Class<R> type) {
    return Settings.bind(new JsonObject(SettingsWriter.json(record).encode()), type);
  }

  @Test
  void defaultsAreLeftOut() {
    assertThat(SettingsWriter.json(Settings.defaults(DataConfig.class)).encode()).isEqualTo("{}");
    assertThat(SettingsWriter.json(Settings.bind(new JsonObject("{\"kind\": \"number\", \"fill\": 2, \"clip\": [0, 1.5]}"),
        FeatureConfig.class)).encode()).isEqualTo("{\"kind\":\"number\",\"clip\":[0.0,1.5],\"fill\":2.0}");
    assertThat(SettingsWriter.json(JobConfig.of(new JsonObject("{\"job\": \"j\"}")))).isEqualTo(new JsonObject("{\"job\": \"j\"}"));
  }

  @Test
  void mapsKeepTheirOrderAndTheirEmptySections() {
    LabelConfig none = Settings.defaults(LabelConfig.class);
    Map<String, LabelConfig> labels = new LinkedHashMap<>();
    labels.put("z", none);
    labels.put("a", none);
    assertThat(SettingsWriter.json(labels).encode()).isEqualTo("{\"z\":{},\"a\":{}}");
  }

  @Property(tries = 100)
  void aJobIsBoundAgain(@ForAll("jobs") JsonObject json) {
    JobConfig job = JobConfig.of(json);
    assertThat(again(job, JobConfig.class)).isEqualTo(job);
  }

  @Provide
  Arbitrary<JsonObject> jobs() {
    return parts(List.of("\"mode\": \"geo\"", "\"mode\": \"collective\"", "\"trainers\": 3", "\"threads\": 1", "\"seed\": -7",
        "\"optimizer\": {\"kind\": \"adam\", \"beta1\": 0.8, \"schedule\": {\"kind\": \"piecewise\", \"boundaries\": [5], \"values\": [0.1, 0.01]}}",
        "\"sparse_optimizer\": {\"kind\": \"adagrad\", \"learning_rate\": 0.05}", "\"epochs\": 0",
        "\"tables\": {\"embedding\": {\"dim\": 4, \"initializer\": {\"kind\": \"normal\", \"b\": 0.1}, \"life\": {\"admit_count\": 2}}}",
        "\"data\": {\"dir\": \"d\", \"files\": [\"a\", \"b, c\"], \"format\": \"csv\", \"shuffle_buffer\": 9, \"on_bad_line\": \"skip\"}",
        "\"settings\": {\"hidden\": [1, 2], \"x\": {\"y\": 0.5}}", "\"output\": \"o\"", "\"max_steps\": 12345678901"))
        .map(text -> new JsonObject("{\"job\": \"j\"" + text + "}"));
  }

  @Property(tries = 100)
  void aModelIsBoundAgain(@ForAll("models") JsonObject json) {
    ModelConfig model = Settings.bind(json, ModelConfig.class);
    assertThat(again(model, ModelConfig.class)).isEqualTo(model);
  }

  @Provide
  Arbitrary<JsonObject> models() {
    return parts(List.of("\"embedding\": 3", "\"hidden\": [5]", "\"hidden\": []", "\"cross_layers\": 1", "\"cross_rank\": 4", "\"dropout\": 0.25",
        "\"embedding_bound\": 1e-3")).map(text -> new JsonObject("{\"kind\": \"dcn_v2\"" + text + "}"));
  }

  @Property(tries = 100)
  void aFeatureIsBoundAgain(@ForAll("features") JsonObject json) {
    FeatureConfig feature = Settings.bind(json, FeatureConfig.class);
    assertThat(again(feature, FeatureConfig.class)).isEqualTo(feature);
  }

  @Provide
  Arbitrary<JsonObject> features() {
    return Arbitraries.of(
        parts(List.of("\"clip\": [-1, 1e300]", "\"scale\": \"none\"", "\"transform\": \"log\"", "\"fill\": -0.0", "\"missing\": \"none\""))
            .map(text -> new JsonObject("{\"kind\": \"number\"" + text + "}")),
        parts(List.of("\"bounds\": [0, 0.1, 3]", "\"column\": \"a b\"")).map(text -> new JsonObject("{\"kind\": \"bucket\""
            + (text.contains("bounds") ? "" : ", \"quantiles\": 3") + text + "}")),
        parts(List.of("\"separator\": \" \"", "\"weight_separator\": \":\"", "\"max\": 3", "\"pooling\": \"mean\"", "\"min_count\": 4",
            "\"whole\": true")).map(text -> new JsonObject("{\"kind\": \"ids\"" + text + "}")),
        parts(List.of("\"zone\": \"Asia/Tokyo\"", "\"format\": \"epoch_s\"", "\"parts\": [\"day\", \"month\"]"))
            .map(text -> new JsonObject("{\"kind\": \"time\"" + text + "}"))).flatMap(kind -> kind);
  }

  /** Returns texts that each hold some of the keys; of two with one key, the last counts. */
  private static Arbitrary<String> parts(List<String> keys) {
    return Combinators.combine(keys.stream().map(key -> Arbitraries.of("", ", " + key)).toList()).as(some -> String.join("", some));
  }
}
