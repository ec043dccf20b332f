package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.yaml.snakeyaml.Yaml;

/**
 * The objects that Kustomize builds from a directory, as far as ours go: resources, components, config maps of files, and patches
 * that add or replace something. Anything else in a kustomization is refused, because this reader would not see it.
 */
final class Kustomized {

  private static final Set<String> KEYS = Set.of("apiVersion", "kind", "namespace", "resources", "components",
      "configMapGenerator", "images", "patches");

  private final String name;
  private final List<JsonObject> objects = new ArrayList<>();
  private final Map<String, Map<String, Path>> configMaps = new LinkedHashMap<>();
  private final Set<Path> files = new TreeSet<>();
  private final List<String> tags = new ArrayList<>();

  private Kustomized(String name) {
    this.name = name;
  }

  /** @param directories an overlay, and components that are added to it */
  static Kustomized of(Path... directories) {
    Kustomized all = new Kustomized(List.of(directories).stream().map(at -> at.getFileName().toString()).toList().toString());
    for (Path directory : directories) {
      all.read(directory);
    }
    return all;
  }

  private void read(Path directory) {
    Path file = directory.resolve("kustomization.yaml");
    files.add(file);
    JsonObject kustomization = documents(file).get(0);
    assertThat(KEYS).as("%s", file).containsAll(kustomization.fieldNames());
    for (String key : List.of("resources", "components")) {
      for (Object resource : kustomization.getJsonArray(key, new JsonArray())) {
        Path path = directory.resolve(resource.toString()).normalize();
        if (Files.isDirectory(path)) {
          read(path);
        } else {
          files.add(path);
          objects.addAll(documents(path));
        }
      }
    }
    for (JsonObject generated : objects(kustomization, "configMapGenerator")) {
      Map<String, Path> entries = new LinkedHashMap<>();
      for (Object entry : generated.getJsonArray("files")) {
        Path path = directory.resolve(entry.toString());
        files.add(path);
        entries.put(path.getFileName().toString(), path);
      }
      configMaps.put(generated.getString("name"), entries);
    }
    objects(kustomization, "images").forEach(this::rename);
    for (JsonObject patch : objects(kustomization, "patches")) {
      patch(directory, patch);
    }
  }

  /** Names an image anew in the containers read so far. As in Kustomize, a digest takes the place of the tag. */
  private void rename(JsonObject image) {
    assertThat(Set.of("name", "newName", "newTag", "digest")).as("image of %s", name).containsAll(image.fieldNames());
    assertThat(image.containsKey("newTag")).as("either tag or digest: %s", image.encode()).isNotEqualTo(image.containsKey("digest"));
    String version = image.containsKey("digest") ? "@" + image.getString("digest") : ":" + image.getString("newTag");
    if (image.containsKey("newTag")) {
      tags.add(image.getString("newTag"));
    }
    for (Pod pod : Pod.owners(this).toList()) {
      if (pod.container().getString("image").split("[:@]")[0].equals(image.getString("name"))) {
        pod.container().put("image", image.getString("newName", image.getString("name")) + version);
      }
    }
  }

  /** Applies a list of operations of RFC 6902 to all objects of a kind read so far, or to those whose whole name matches. */
  private void patch(Path directory, JsonObject patch) {
    Path at = directory.resolve(patch.getString("path")).normalize();
    files.add(at);
    assertThat(patch.fieldNames()).as("%s", directory).containsExactlyInAnyOrder("path", "target");
    JsonObject target = patch.getJsonObject("target");
    assertThat(Set.of("kind", "name")).as("%s", directory).containsAll(target.fieldNames());
    List<JsonObject> ofKind = objects(target.getString("kind"));
    assertThat(ofKind).as("objects for %s", at).isNotEmpty();
    JsonArray operations = new JsonArray(new Yaml().<List<?>>load(text(at)));
    for (JsonObject object : ofKind) {
      if (object.getJsonObject("metadata").getString("name").matches(target.getString("name", ".*"))) {
        operations.forEach(operation -> apply((JsonObject) operation, object));
      }
    }
  }

  private static void apply(JsonObject operation, JsonObject to) {
    assertThat(operation.getString("op")).as(operation.encode()).isIn("add", "replace");
    String[] names = operation.getString("path").substring(1).split("/");
    Object at = to;
    for (String name : List.of(names).subList(0, names.length - 1)) {
      at = at instanceof JsonArray list ? list.getValue(Integer.parseInt(name)) : ((JsonObject) at).getValue(name);
      assertThat(at).as("%s of %s", operation.encode(), to.encode()).isNotNull();
    }
    String last = names[names.length - 1];
    if (at instanceof JsonArray list) {
      assertThat(operation.getString("op") + " " + last).as(operation.encode()).isEqualTo("add -");
      list.add(operation.getValue("value"));
    } else {
      JsonObject object = (JsonObject) at;
      assertThat(object.containsKey(last)).as(operation.encode()).isEqualTo(operation.getString("op").equals("replace"));
      object.put(last, operation.getValue("value"));
    }
  }

  /** Every document of a YAML file. */
  @SuppressWarnings("unchecked")
  static List<JsonObject> documents(Path file) {
    List<JsonObject> documents = new ArrayList<>();
    for (Object document : new Yaml().loadAll(text(file))) {
      documents.add(new JsonObject((Map<String, Object>) document));
    }
    return documents;
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The objects of a list in an object; none if it is not there. */
  static List<JsonObject> objects(JsonObject of, String key) {
    List<JsonObject> objects = new ArrayList<>();
    if (of.containsKey(key)) {
      for (int i = 0; i < of.getJsonArray(key).size(); i++) {
        objects.add(of.getJsonArray(key).getJsonObject(i));
      }
    }
    return objects;
  }

  /** All objects for the API, in order. */
  List<JsonObject> objects() {
    return objects;
  }

  /** Those of a kind. */
  List<JsonObject> objects(String kind) {
    return objects.stream().filter(object -> object.getString("kind").equals(kind)).toList();
  }

  /** The one of a kind and name. */
  JsonObject object(String kind, String called) {
    return objects(kind).stream().filter(object -> object.getJsonObject("metadata").getString("name").equals(called)).findFirst()
        .orElseThrow(() -> new AssertionError("no " + kind + " " + called + " in " + this));
  }

  /** The names of those of a kind. */
  List<String> names(String kind) {
    return objects(kind).stream().map(object -> object.getJsonObject("metadata").getString("name")).toList();
  }

  /** Files by the name of the config map and of the entry. */
  Map<String, Map<String, Path>> configMaps() {
    return configMaps;
  }

  /** Tags of the image, one for each overlay that was read. */
  List<String> tags() {
    return tags;
  }

  /** All that was read. */
  Set<Path> files() {
    return files;
  }

  @Override
  public String toString() {
    return name;
  }
}
