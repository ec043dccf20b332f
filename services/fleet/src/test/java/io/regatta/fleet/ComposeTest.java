package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.Mode;
import io.regatta.fleet.process.JobFile;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.node.NodeConfig;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.JobConfig;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/** deploy/compose.yaml and what is laid over it, as far as they can be tried without Docker: by Regatta's own settings. */
class ComposeTest {

  private static final JsonObject SERVICES = services("deploy/compose.yaml");
  private static final JsonObject SECURED = services("deploy/compose.tls.yaml");

  /** With no variable set but those that must be. */
  private static JsonObject services(String file) {
    String text = Checkout.text(file).replaceAll("\\$\\{\\w+:-([^}]*)}", "$1").replaceAll("\\$\\{(\\w+):\\?[^}]*}", "/$1");
    return new JsonObject(new Yaml().<Map<String, Object>>load(text)).getJsonObject("services");
  }

  /** As a service's process reads it. */
  private static NodeConfig node(JsonObject... layers) {
    Map<String, String> environment = Checkout.imageVariables();
    for (JsonObject layer : layers) {
      layer.getJsonObject("environment").forEach(variable -> environment.put(variable.getKey(), variable.getValue().toString()));
    }
    return ProcessSettings.load(Settings.Sources.NONE.withEnvironment(environment))
        .node();
  }

  @Test
  void with_compose_tls_every_service_has_tls_and_the_users_token() {
    assertThat(SECURED.fieldNames()).containsExactlyInAnyOrderElementsOf(regattas());
    for (String service : regattas()) {
      JsonObject more = SECURED.getJsonObject(service);
      NodeConfig node = node(SERVICES.getJsonObject(service), more);
      assertThat(more.getJsonArray("volumes")).containsExactly("/KEYS:/keys:ro");
      assertThat(List.of(node.tls().ca(), node.tls().certificate(), node.tls().key(), node.tokenFile()))
          .allSatisfy(file -> assertThat(file).startsWith("/keys/"));
      assertThat(node.tls().verifyHost()).as("addresses of containers are in no certificate").isFalse();
      assertThat(node(SERVICES.getJsonObject(service)).tls().ca()).isEmpty();
    }
  }

  /** All services but the one that makes the token. */
  private static Set<String> regattas() {
    Set<String> services = new TreeSet<>(SERVICES.fieldNames());
    assertThat(services.remove("token")).isTrue();
    return services;
  }

  @Test
  void every_service_waits_for_the_projects_token_and_can_only_read_it() {
    for (String service : regattas()) {
      JsonObject all = SERVICES.getJsonObject(service);
      assertThat(node(all).tokenFile()).isEqualTo("/secrets/token");
      assertThat(all.getJsonArray("volumes")).contains("secrets:/secrets:ro");
      assertThat(all.getJsonObject("depends_on").getJsonObject("token").getString("condition"))
          .isEqualTo("service_completed_successfully");
    }
    JsonObject maker = SERVICES.getJsonObject("token");
    assertThat(maker.getJsonArray("volumes")).containsExactly("secrets:/secrets");
    assertThat(maker.getString("network_mode")).isEqualTo("none");
    assertThat(maker.getJsonObject("depends_on")).isEmpty();
  }

  /** Its script, with a directory of the test's in the place of the volume. */
  @Test
  void the_token_is_made_once_for_its_owner_alone(@TempDir Path secrets) throws Exception {
    JsonObject maker = SERVICES.getJsonObject("token");
    assertThat(maker.getJsonArray("entrypoint")).containsExactly("/bin/sh", "-c");
    Path token = secrets.resolve("token");
    Set<String> made = new HashSet<>();
    for (int start = 0; start < 2; start++) {
      String script = maker.getJsonArray("command").getString(0).replace("/secrets", secrets.toString());
      Process sh = new ProcessBuilder("/bin/sh", "-c", script).redirectErrorStream(true).start();
      assertThat(sh.waitFor()).as(new String(sh.getInputStream().readAllBytes(), StandardCharsets.UTF_8)).isZero();
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(token))).isEqualTo("r--------");
      made.add(Files.readString(token));
    }
    assertThat(made).singleElement().asString().matches("[0-9a-f]{64}");
  }

  /** A tag moves, and {@code latest} says nothing; a digest names one image. */
  @Test
  void base_images_are_named_by_digest() {
    String dockerfile = Checkout.text("deploy/Dockerfile");
    List<MatchResult> arguments = Pattern.compile("(?m)^ARG (JDK|BASE)=(\\S+)$").matcher(dockerfile).results().toList();
    assertThat(arguments).hasSize(2).allSatisfy(argument -> {
      assertThat(argument.group(2)).matches("[a-z0-9./-]+:(?!latest)[\\w.-]+@sha256:[0-9a-f]{64}");
      assertThat(Checkout.text("deploy/compose.yaml"))
          .contains("${" + argument.group(1) + ":-" + argument.group(2) + "}");
    });
    assertThat(Pattern.compile("(?m)^FROM (\\S+)").matcher(dockerfile).results().map(from -> from.group(1)))
        .containsExactly("${JDK}", "scratch", "${PROGRAM}", "${JDK}", "${BASE}");
  }

  /** The job that a service's command runs. */
  private static JobConfig job(String service) {
    return jobOf(SERVICES.getJsonObject(service).getString("command").strip().split("\\s+"));
  }

  private static JobConfig jobOf(String[] command) {
    List<String> words = List.of(command);
    List<Settings.Option> options = new ArrayList<>();
    List<String> keys = new ArrayList<>();
    for (int i = 2; i < words.size(); i += 2) {
      if (words.get(i).equals("--set")) {
        keys.add(words.get(i + 1));
      } else if (List.of("--trainers", "--servers", "--shards", "--heter-workers").contains(words.get(i))) {
        String key = words.get(i).equals("--heter-workers") ? "heter.workers" : words.get(i).substring(2);
        options.add(new Settings.Option(words.get(i), key, words.get(i + 1)));
      }
    }
    String file = words.get(1).equals("digits.yaml") ? "deploy/kubernetes/overlays/collective/job.yaml" : words.get(1);
    return JobFile.load(Checkout.file(file), System.getenv(), List.of(), options, keys, new JsonObject());
  }

  @Test
  void jobs_are_what_regatta_takes() {
    assertThat(job("trainer").worldSize().elastic()).isTrue();
    String summed = SERVICES.getJsonObject("trainer").getString("command").strip().replace("--trainers 16", "--trainers 2")
        .replace("min_trainers=1", "min_trainers=2") + " --set aggregator=true"; // MAX_TRAINERS, MIN_TRAINERS, ARGS
    assertThat(jobOf(summed.split("\\s+")).aggregator()).isTrue();
    assertThat(job("trainer-ps").aggregator()).isFalse();
    for (String trainer : List.of("trainer-ps", "trainer-heter", "trainer-aggregated")) {
      JobConfig job = job(trainer);
      assertThat(SERVICES.getJsonObject(trainer).getInteger("scale")).isEqualTo(job.trainers());
      assertThat(SERVICES.getJsonObject("parameter-server").getInteger("scale")).isEqualTo(job.servers());
    }
  }

  @Test
  void heter_workers_run_the_job_of_their_trainers() {
    JobConfig job = job("trainer-heter");
    assertThat(SERVICES.getJsonObject("heter-worker").getInteger("scale")).isEqualTo(job.heter().workers()).isEqualTo(2);
    assertThat(job("heter-worker")).isEqualTo(job);
    assertThat(SERVICES.getJsonObject("heter-worker").getJsonArray("profiles"))
        .isEqualTo(SERVICES.getJsonObject("trainer-heter").getJsonArray("profiles"));
  }

  /** An aggregator of a job with servers is that of its own host: its address is theirs. */
  @Test
  void trainers_behind_an_aggregator_share_its_address_and_nothing_else_of_it() {
    JsonObject trainers = SERVICES.getJsonObject("trainer-aggregated");
    assertThat(job("trainer-aggregated").aggregator()).isTrue();
    assertThat(job("trainer-aggregated").mode()).isEqualTo(Mode.SYNC);
    assertThat(trainers.getString("network_mode")).isEqualTo("service:aggregator");
    assertThat(trainers.fieldNames()).doesNotContain("networks");
    assertThat(node(trainers).admin().port()).isZero();
    assertThat(node(trainers).cluster().port()).isZero();
    for (String service : List.of("rendezvous", "parameter-server", "aggregator")) {
      assertThat(SERVICES.getJsonObject(service).getJsonArray("profiles")).containsAll(trainers.getJsonArray("profiles"));
    }
  }
}
