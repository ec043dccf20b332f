package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.NodeConfig;
import io.regatta.node.settings.Settings;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
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
    return Place.load(new Settings.Sources(null, List.of(), environment, Map.of(), List.of(), List.of(), new JsonObject(), List.of()))
        .node();
  }

  @Test
  void with_compose_tls_every_service_has_tls_and_the_token_and_without_it_none() {
    assertThat(SECURED.fieldNames()).containsExactlyInAnyOrderElementsOf(SERVICES.fieldNames());
    for (String service : SERVICES.fieldNames()) {
      JsonObject more = SECURED.getJsonObject(service);
      NodeConfig node = node(SERVICES.getJsonObject(service), more);
      assertThat(more.getJsonArray("volumes")).containsExactly("/KEYS:/keys:ro");
      assertThat(List.of(node.tls().ca(), node.tls().certificate(), node.tls().key(), node.tokenFile()))
          .allSatisfy(file -> assertThat(file).startsWith("/keys/"));
      assertThat(node.tls().verifyHost()).as("addresses of containers are in no certificate").isFalse();
      NodeConfig open = node(SERVICES.getJsonObject(service));
      assertThat(open.tls().ca() + open.tokenFile()).isEmpty();
    }
  }
}
