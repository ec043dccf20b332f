package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.aggregator.AggregatorConfig;
import io.regatta.fleet.process.FleetConfig;
import io.regatta.heterworker.HeterWorkerConfig;
import io.regatta.node.NodeConfig;
import io.regatta.node.Sections;
import io.regatta.node.settings.OtherNames;
import io.regatta.node.settings.Schema;
import io.regatta.node.settings.Settings;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.predictor.PredictorConfig;
import io.regatta.program.CensusWideAndDeep;
import io.regatta.program.CriteoSettings;
import io.regatta.program.LeNet;
import io.regatta.program.LogisticRegression;
import io.regatta.program.ResNet50;
import io.regatta.program.Word2VecSettings;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * docs/configuration.md lists every key, type, unit and default of the configuration records. Its tables stand between
 * markers and are made from the records: {@code -Dregatta.docs.update=true} writes them anew.
 */
class ConfigurationPageTest {

  private static final GeneratedPage PAGE = new GeneratedPage("docs/configuration.md");

  private static Map<String, Class<? extends Record>> sections() {
    Map<String, Class<? extends Record>> sections = new LinkedHashMap<>();
    sections.put("job", JobConfig.class);
    sections.put("node", NodeConfig.class);
    sections.put("fleet", FleetConfig.class);
    sections.put("rendezvous", RendezvousConfig.class);
    sections.put("parameter_server", ParameterServerConfig.class);
    sections.put("gradient_aggregator", AggregatorConfig.class);
    sections.put("trainer", TrainerConfig.class);
    sections.put("heter_worker", HeterWorkerConfig.class);
    sections.put("predictor", PredictorConfig.class);
    sections.put("WideAndDeep, CtrDnn and DeepFm", CriteoSettings.class);
    sections.put("Word2Vec", Word2VecSettings.class);
    sections.put("LogisticRegression", LogisticRegression.LogisticRegressionSettings.class);
    sections.put("LeNet", LeNet.LeNetSettings.class);
    sections.put("ResNet50", ResNet50.ResNet50Settings.class);
    sections.put("CensusWideAndDeep", CensusWideAndDeep.CensusSettings.class);
    return sections;
  }

  @TestFactory
  Stream<DynamicTest> lists_every_key() {
    return sections().entrySet().stream().map(section -> DynamicTest.dynamicTest(section.getKey(),
        () -> PAGE.holds("keys of " + section.getKey(), table(section.getValue()))));
  }

  @Test
  void lists_the_names_that_are_no_keys() throws IOException {
    StringBuilder table = new StringBuilder("| Name | Meaning |\n|---|---|\n");
    OtherNames.described().forEach((name, meaning) ->
        table.append("| `").append(name).append("` | ").append(meaning).append(" |\n"));
    PAGE.holds("keys of no section", table.toString());
  }

  /** No key of a job is called like a section: {@code --set} takes both. */
  @Test
  void keys_of_jobs_and_sections_have_different_names() {
    assertThat(Settings.describe(JobConfig.class)).noneMatch(entry -> Sections.holds(entry.key()));
  }

  @Test
  void every_key_says_what_it_means() {
    sections().forEach((name, type) -> assertThat(Settings.describe(type))
        .as(name)
        .allSatisfy(entry -> assertThat(entry.doc()).as(entry.key()).isNotBlank()));
  }

  private static String table(Class<? extends Record> type) {
    StringBuilder table = new StringBuilder("| Key | Type | Unit | Default | Meaning |\n|---|---|---|---|---|\n");
    for (Schema.Entry e : Settings.describe(type)) {
      if (type != JobConfig.class && e.key().startsWith("job.")) {
        continue; // the section's own page part: a whole job, listed once
      }
      if (e.derived()) {
        if (e.key().endsWith(".kind")) {
          String section = e.key().substring(0, e.key().length() - "kind".length());
          table.append("| `").append(section).append("kind`, and the keys of each kind: [optimizers.md](optimizers.md) | word | | `")
              .append(e.defaultValue()).append("` | ").append(e.doc()).append(" |\n");
        }
        continue; // listed once for all sections, on a page of their own
      }
      String value = e.required() ? "required" : e.defaultValue().isEmpty() ? "empty" : "`" + e.defaultValue() + "`";
      table.append("| `").append(e.key()).append("` | ").append(e.type().replace("|", "\\|")).append(" | ")
          .append(e.unit()).append(" | ").append(value).append(" | ").append(e.doc().replace("|", "\\|"))
          .append(" |\n");
    }
    return table.toString();
  }
}
