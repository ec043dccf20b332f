package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** Our own image by its digest, in Kubernetes and in Compose: deploy/pin-image, as far as it needs no registry. */
class PinnedImageTest {

  private static final String DIGEST = "sha256:" + "0123456789abcdef".repeat(4);
  private static final String REPOSITORY = "registry.example.com:5000/team/regatta";
  private static final String PINNED = REPOSITORY + "@" + DIGEST;

  @TempDir
  private Path directory;

  private record Script(int status, String said) {}

  private static Script pin(Object... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("bash", Checkout.file("deploy/pin-image").toString()));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    Process bash = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    return new Script(bash.waitFor(), said);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ps", "collective-tls", "ps-small"})
  void each_container_of_an_overlay_gets_the_digest_in_place_of_the_tag(String overlay) throws Exception {
    Path mine = directory.resolve("mine");
    assertThat(pin(REPOSITORY + ":0.1.0@" + DIGEST, overlay, mine)).isEqualTo(new Script(0, PINNED));
    assertThat(Pod.owners(Kustomized.of(Checkout.file("deploy/kubernetes/overlays").resolve(overlay))))
        .isNotEmpty().allSatisfy(pod -> assertThat(pod.container().getString("image")).matches("regatta:[\\w.-]+"));
    assertThat(Pod.owners(Kustomized.of(mine)))
        .isNotEmpty().allSatisfy(pod -> assertThat(pod.container().getString("image")).isEqualTo(PINNED));
  }

  @Test
  void each_service_of_compose_takes_the_image_from_one_variable() {
    String text = Checkout.text("deploy/compose.yaml").replace("${IMAGE:-regatta}", PINNED);
    JsonObject services = new JsonObject(new Yaml().<Map<String, Object>>load(text)).getJsonObject("services");
    assertThat(services.fieldNames()).isNotEmpty()
        .allSatisfy(service -> assertThat(services.getJsonObject(service).getString("image")).isEqualTo(PINNED));
  }

  @Test
  void refusals_say_what_to_do_and_write_nothing() throws Exception {
    Path mine = directory.resolve("mine");
    assertThat(pin(REPOSITORY + "@sha256:12", "ps", mine)).isEqualTo(new Script(1,
        "pin-image: sha256:12 is no digest: give 64 hexadecimal digits after sha256:"));
    Script unknown = pin(PINNED, "pss", mine);
    assertThat(unknown.status()).isEqualTo(1);
    assertThat(unknown.said()).contains("there is no overlay pss: give one of collective ").contains(" ps-tls");
    assertThat(mine).doesNotExist();
    Files.createDirectory(mine);
    Files.writeString(mine.resolve("kustomization.yaml"), "mine");
    assertThat(pin(PINNED, "ps", mine).said()).contains("kustomization.yaml is there already").contains(DIGEST);
    assertThat(mine.resolve("kustomization.yaml")).hasContent("mine");
    assertThat(pin().status()).isEqualTo(2);
  }
}
