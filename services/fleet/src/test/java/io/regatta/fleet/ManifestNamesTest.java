package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.ManifestFile;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each command that reads a directory of which a stranger has written the manifest. {@code serve} is left out: it ends
 * its JVM, and loads a model as {@code predict} does.
 */
class ManifestNamesTest {

  @TempDir
  Path dir;

  /** Says when its static initializer runs; no program. */
  public static final class Payload {
    static {
      System.setProperty("regatta.test.payload", "ran");
    }
  }

  private Path directory(JsonObject manifest) throws IOException {
    Path made = Files.createDirectories(dir.resolve("a/b/" + manifest.getString("kind")));
    ManifestFile.write(made.resolve(ManifestFile.NAME), manifest);
    return made;
  }

  private static JsonObject model(String program, JsonArray files) {
    return new JsonObject().put("kind", "model").put("job", "job").put("program", program).put("seed", 1)
        .put("mode", "sync").put("parameters_hash", "00").put("tables", new JsonArray()).put("files", files);
  }

  @ParameterizedTest
  @ValueSource(strings = {"../../payload", "/etc/hostname", "a\0b", "..\\payload", "", "a//b", "C:\\payload", ".", "..",
      "link"})
  void each_command_refuses_names_that_lead_out_of_the_directory(String name) throws Exception {
    Path payload = Files.writeString(dir.resolve("payload"), "payload");
    JsonArray files = new JsonArray().add(FileEntry.of(payload, "payload").toJson().put("file", name));
    Path model = directory(model("no.Program", files));
    Path snapshot = directory(new JsonObject().put("kind", "full").put("format", "regatta-snapshot-2").put("job", "job")
        .put("trainers", new JsonArray()).put("files", files));
    for (Path each : List.of(model, snapshot)) {
      Files.createSymbolicLink(each.resolve("link"), payload);
    }
    String to = dir.resolve("x/y/to").toString();
    String from = snapshot.toString();
    for (List<String> command : List.of(List.of("checkpoint", "verify", model.toString()),
        List.of("checkpoint", "verify", from),
        List.of("checkpoint", "inspect", from), List.of("checkpoint", "reshard", from, to, "--shards", "2"),
        List.of("checkpoint", "export", from, to),
        List.of("predict", "--model", model.toString(), payload.toString()))) {
      CommandLineRun run = CommandLineRun.regatta(command.toArray(String[]::new));
      assertThat(run.status()).as("%s: %s", command, run).isNotZero();
      assertThat(run.failure().lines()).as("%s: %s", command, run).hasSize(1);
    }
    assertThat(dir.resolve("x")).doesNotExist();
    assertThat(CommandLineRun.regatta("predict", "--model", model.toString(), payload.toString()).failure())
        .doesNotContain("no.Program");
  }

  @Test
  void when_a_manifest_names_a_class_that_cannot_be_served_then_none_of_its_code_runs() throws Exception {
    Path examples = Files.writeString(dir.resolve("examples"), "1\n");
    Path model = directory(model(Payload.class.getName(), new JsonArray()));
    CommandLineRun run = CommandLineRun.regatta("predict", "--model", model.toString(), examples.toString());
    assertThat(run.failure()).as(run.toString()).contains("cannot be served");
    assertThat(System.getProperty("regatta.test.payload")).isNull();
  }
}
