package io.regatta.fleet;

import io.kubernetes.client.custom.QuantityFormatter;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The pods of one StatefulSet or Job as its manifest describes them; each has one container.
 *
 * @param owner the StatefulSet or Job
 */
record Pod(JsonObject owner) {

  /** Name of the Job that makes the token, the only pods that are none of Regatta's services. */
  private static final String TOKEN = "regatta-token";

  /** Returns the pods of all owners in Regatta's services. */
  static List<Pod> all(Kustomized built) {
    return owners(built).filter(pod -> !pod.name().equals(TOKEN)).toList();
  }

  /** Returns the pod of the Job that makes the token. */
  static Pod ofToken(Kustomized built) {
    return owners(built).filter(pod -> pod.name().equals(TOKEN)).findFirst().orElseThrow();
  }

  /** Returns all owners of pods. */
  static Stream<Pod> owners(Kustomized built) {
    return built.objects().stream().filter(object -> object.getJsonObject("spec", new JsonObject()).containsKey("template"))
        .map(Pod::new);
  }

  String name() {
    return owner.getJsonObject("metadata").getString("name");
  }

  private JsonObject template() {
    return owner.getJsonObject("spec").getJsonObject("template");
  }

  JsonObject spec() {
    return template().getJsonObject("spec");
  }

  JsonObject container() {
    return spec().getJsonArray("containers").getJsonObject(0);
  }

  List<String> args() {
    return container().getJsonArray("args").stream().map(Object::toString).toList();
  }

  /** The argument behind an option. */
  String option(String name) {
    return args().get(args().indexOf(name) + 1);
  }

  /** Whether a selector's labels are all of this pod's. */
  boolean selectedBy(JsonObject labels) {
    return template().getJsonObject("metadata").getJsonObject("labels").getMap().entrySet().containsAll(labels.getMap().entrySet());
  }

  boolean indexed() {
    return "Indexed".equals(owner.getJsonObject("spec").getString("completionMode"));
  }

  /** Ports by name. */
  Map<String, Integer> ports() {
    Map<String, Integer> ports = new LinkedHashMap<>();
    Kustomized.objects(container(), "ports").forEach(port -> ports.put(port.getString("name"), port.getInteger("containerPort")));
    return ports;
  }

  /** Variables of the first of the pods, with those that Kubernetes sets. */
  Map<String, String> environment() {
    Map<String, String> environment = new LinkedHashMap<>();
    for (JsonObject variable : Kustomized.objects(container(), "env")) {
      environment.put(variable.getString("name"), variable.getString("value", name() + "-0"));
    }
    if (indexed()) {
      environment.put("JOB_COMPLETION_INDEX", "0");
    }
    return environment;
  }

  /** Requested quantity of a resource, in cores or bytes. */
  BigDecimal request(String resource) {
    return new QuantityFormatter().parse(container().getJsonObject("resources").getJsonObject("requests").getString(resource))
        .getNumber();
  }

  /** Volumes by name. */
  Map<String, JsonObject> volumes() {
    Map<String, JsonObject> volumes = new LinkedHashMap<>();
    Kustomized.objects(spec(), "volumes").forEach(volume -> volumes.put(volume.getString("name"), volume));
    return volumes;
  }

  /** Names of volumes by where they are mounted. */
  Map<String, String> mounts() {
    Map<String, String> mounts = new LinkedHashMap<>();
    Kustomized.objects(container(), "volumeMounts").forEach(mount -> mounts.put(mount.getString("mountPath"), mount.getString("name")));
    return mounts;
  }

  /** Returns the probes: started, live, ready. */
  List<JsonObject> probes() {
    return Stream.of("startupProbe", "livenessProbe", "readinessProbe").filter(container()::containsKey)
        .map(probe -> container().getJsonObject(probe).getJsonObject("httpGet")).toList();
  }

  /** Files of Secrets, by their paths in the container. */
  List<String> secrets() {
    List<String> files = new ArrayList<>();
    mounts().forEach((path, volume) -> {
      JsonObject projected = volumes().get(volume).getJsonObject("projected", new JsonObject());
      Kustomized.objects(projected, "sources").forEach(source -> Kustomized.objects(source.getJsonObject("secret"), "items")
          .forEach(item -> files.add(path + "/" + item.getString("path"))));
    });
    return files;
  }

  /** The Secrets without which the pod does not start. */
  List<String> waitsFor() {
    return volumes().values().stream().map(volume -> volume.getJsonObject("projected", new JsonObject()))
        .flatMap(projected -> Kustomized.objects(projected, "sources").stream()).map(source -> source.getJsonObject("secret"))
        .filter(secret -> !secret.getBoolean("optional", false)).map(secret -> secret.getString("name")).toList();
  }

  /** The file of this repository that stands at a path in the container, by a config map; null: none does. */
  Path file(Kustomized built, String path) {
    int slash = path.lastIndexOf('/');
    JsonObject volume = volumes().get(mounts().get(path.substring(0, slash)));
    return volume == null || !volume.containsKey("configMap") ? null
        : built.configMaps().get(volume.getJsonObject("configMap").getString("name")).get(path.substring(slash + 1));
  }
}
