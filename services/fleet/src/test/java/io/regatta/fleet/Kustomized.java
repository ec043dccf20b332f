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
 * What Kustomize makes of a directory, as far as ours go: resources, components and config maps of files. Whatever else a
 * kustomization says is refused, for it would not be seen here.
 */
final class Kustomized {

  private static final Set<String> KEYS = Set.of("apiVersion", "kind", "namespace", "resources", "components",
      "configMapGenerator", "images");

  private final String name;
  private final List<JsonObject> objects = new ArrayList<>();
  private final Map<String, Map<String, Path>> configMaps = new LinkedHashMap<>();
  private final Set<Path> files = new TreeSet<>();

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
  }

  /** Every document of a YAML file. */
  @SuppressWarnings("unchecked")
  static List<JsonObject> documents(Path file) {
    try {
      List<JsonObject> documents = new ArrayList<>();
      for (Object document : new Yaml().loadAll(Files.readString(file))) {
        documents.add(new JsonObject((Map<String, Object>) document));
      }
      return documents;
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

  /** The names of those of a kind. */
  List<String> names(String kind) {
    return objects(kind).stream().map(object -> object.getJsonObject("metadata").getString("name")).toList();
  }

  /** Files by the name of the config map and of the entry. */
  Map<String, Map<String, Path>> configMaps() {
    return configMaps;
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
