package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.fleet.process.JobFile;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.MeetingStore;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/** The file and the commands that docs/launching.md gives for service jars on two machines, and its list of stores. */
class LaunchingPageTest {

  private static final String SECTION = section("Service jars on two machines");

  @TempDir
  private Path directory;

  private static String section(String title) {
    String page = Checkout.text("docs/launching.md");
    int begin = page.indexOf("## " + title + "\n");
    return page.substring(begin, page.indexOf("\n## ", begin));
  }

  private static String block(String language) {
    Matcher block = Pattern.compile("(?ms)^```" + language + "\n(.*?)^```$").matcher(SECTION);
    assertThat(block.find()).as("a block of %s", language).isTrue();
    return block.group(1);
  }

  @Test
  void the_table_of_stores_has_every_form() {
    List<String> forms = section("Without a rendezvous").lines().filter(line -> line.startsWith("| `")).skip(1)
        .map(line -> line.substring(line.indexOf('`') + 1, line.indexOf('`', 3))).toList();
    assertThat(forms).isEqualTo(Stream.of(MeetingStore.Kind.values()).map(MeetingStore.Kind::form).toList());
  }

  @Test
  void each_service_takes_the_shared_file_and_the_keys_behind_it() throws IOException {
    Path shared = Files.writeString(directory.resolve("cluster.yaml"), block("yaml"));
    JsonObject all = new JsonObject(new Yaml().<Map<String, Object>>load(Files.readString(shared)));
    Path jobFile = Files.writeString(directory.resolve("job.json"), all.getJsonObject("trainer").getJsonObject("job").encode());
    JobConfig job = JobFile.load(jobFile, System.getenv(), List.of(), List.of(), List.of(), new JsonObject());
    List<String> starts = block("sh").lines().filter(line -> line.startsWith("java ")).toList();
    assertThat(starts).hasSize(1 + job.servers() + job.trainers());
    for (String start : starts) {
      assertThat(start).containsPattern("-jar services/([a-z-]+)/target/\\1\\.jar -conf cluster\\.yaml --set ");
      ProcessSettings place = ProcessSettings.load(Settings.Sources.NONE.withFile(shared)
          .withOverrides(List.of(start.substring(start.indexOf("--set ") + "--set ".length()))));
      assertThat(place.node().tokenFile()).isEqualTo("token");
      assertThat(place.node().cluster().port()).isEqualTo(start.contains("rendezvous") ? 5701 : 0);
      if (start.contains("parameter-server")) {
        assertThat(start).endsWith("index=" + place.parameterServer(job).index());
      }
    }
  }
}
