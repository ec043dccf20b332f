package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * The runnable jars as files. They contain the versions that pom.xml pins, exactly the libraries that the bill of
 * materials lists, and the licences of all of these. The bill is that of the fleet's jar, which contains all that the
 * others do. Needs the packaged jars, and the libraries in the local Maven repository.
 */
class RunnableJarsIT {

  private static final String SBOM = "META-INF/sbom/application.cdx.json";
  private static final String LICENSES = "META-INF/licenses/";
  /** JLine's POM says "BSD" alone, which the plugin takes for four clauses; JLine's own text has three. */
  private static final Map<String, String> MISREAD = Map.of("BSD-4-Clause", "BSD-3-Clause");

  /** A library as the bill of materials lists it; {@code classifier} is empty for the main artifact. */
  private record Component(String group, String name, String version, String classifier, List<String> licenses) {

    private static final Pattern CLASSIFIER = Pattern.compile("[?&]classifier=([^&]+)");

    static Component of(JsonObject json) {
      Matcher classifier = CLASSIFIER.matcher(json.getString("purl"));
      List<String> licenses = new ArrayList<>();
      for (Object entry : json.getJsonArray("licenses", new JsonArray())) {
        JsonObject license = ((JsonObject) entry).getJsonObject("license", new JsonObject());
        String expression = ((JsonObject) entry).getString("expression");
        String name = license.getString("id", license.getString("name", expression));
        licenses.add(MISREAD.getOrDefault(name, name));
      }
      return new Component(json.getString("group"), json.getString("name"), json.getString("version"),
          classifier.find() ? classifier.group(1) : "", licenses);
    }

    boolean ours() {
      return group.equals("io.regatta");
    }

    /** The artifact's jar in the local repository. */
    Path jar() {
      String home = System.getProperty("user.home") + "/.m2/repository";
      String local = System.getProperty("regatta.local.repository", home);
      return Path.of(local, group.replace('.', '/'), name, version,
          name + "-" + version + (classifier.isEmpty() ? "" : "-" + classifier) + ".jar");
    }
  }

  /** Returns the components of the bill of materials, by which all the jars are measured. */
  private static List<Component> components() throws IOException {
    try (ZipFile jar = open("fleet")) {
      JsonObject sbom = new JsonObject(text(jar, SBOM));
      assertThat(sbom.getString("bomFormat")).isEqualTo("CycloneDX");
      return sbom.getJsonArray("components").stream().map(component -> Component.of((JsonObject) component)).toList();
    }
  }

  private static String text(ZipFile jar, String name) throws IOException {
    ZipEntry entry = jar.getEntry(name);
    assertThat(entry).as("%s of %s", name, jar.getName()).isNotNull();
    try (InputStream in = jar.getInputStream(entry)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static ZipFile open(String service) throws IOException {
    return new ZipFile(ServiceProcesses.jar(service).toFile());
  }

  /** A later import of a dependency list can take a pin's effect away; the bill of materials tells. */
  @Test
  void versions_are_those_that_the_pom_pins() throws Exception {
    Pins pins = Pins.read();
    Set<String> found = new TreeSet<>();
    for (Component component : components()) {
      String pinned = component.ours() ? null : pins.version(component.group(), component.name());
      if (pinned != null) {
        found.add(component.group());
        assertThat(component.version()).as("%s:%s", component.group(), component.name()).isEqualTo(pinned);
      }
    }
    assertThat(found).contains("com.fasterxml.jackson.core", "io.netty", "io.vertx", "ch.qos.logback");
  }

  /** The bill of materials is true: every class and native library is of a listed version, and the fleet lacks none. */
  @ParameterizedTest
  @ValueSource(strings = {"fleet", "trainer", "predictor", "parameter-server", "rendezvous", "gradient-aggregator",
      "heter-worker"})
  void classes_are_those_of_the_listed_libraries(String service) throws IOException {
    try (ZipFile jar = open(service)) {
      Map<String, Long> inside = code(jar);
      Set<String> known = new HashSet<>();
      List<String> missing = new ArrayList<>();
      for (Component component : components()) {
        if (!component.ours()) {
          try (ZipFile library = new ZipFile(component.jar().toFile())) {
            code(library).forEach((name, checksum) -> {
              if (checksum.equals(inside.get(name))) {
                known.add(name);
              } else if (!known.contains(name)) {
                missing.add(name + " of " + component.jar().getFileName());
              }
            });
          }
        }
      }
      assertThat(inside.keySet().stream().filter(name -> !name.startsWith("io/regatta/") && !known.contains(name)))
          .as("come from no listed library").isEmpty();
      if (service.equals("fleet")) {
        assertThat(missing).as("are not there, or differ").isEmpty();
      }
    }
  }

  /** Checksums of classes and native libraries, by name. */
  private static Map<String, Long> code(ZipFile jar) {
    return jar.stream().filter(entry -> entry.getName().matches(".*\\.(class|so|jnilib|dylib|dll)"))
        .filter(entry -> !entry.getName().endsWith("module-info.class"))
        .collect(Collectors.toMap(ZipEntry::getName, ZipEntry::getCrc, (one, other) -> one, LinkedHashMap::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"fleet", "trainer", "predictor", "parameter-server", "rendezvous", "gradient-aggregator",
      "heter-worker"})
  void licences_of_all_libraries_are_there(String service) throws IOException {
    try (ZipFile jar = open(service)) {
      Set<String> texts = jar.stream().map(ZipEntry::getName)
          .filter(name -> name.startsWith(LICENSES) && name.endsWith(".txt"))
          .map(name -> name.substring(LICENSES.length(), name.length() - ".txt".length())).collect(Collectors.toSet());
      assertThat(components()).isNotEmpty().allSatisfy(component -> assertThat(component.licenses())
          .as("%s:%s: one of its licences is in deploy/licenses", component.group(), component.name())
          .containsAnyElementsOf(texts));
      assertThat(text(jar, LICENSES + "Apache-2.0.txt")).isEqualTo(Checkout.text("LICENSE"));
      assertThat(text(jar, "META-INF/LICENSE")).contains("Apache License");
      assertThat(text(jar, "META-INF/NOTICE"))
          .contains("Regatta\nCopyright", "Jackson JSON processor", "Objenesis", "Apache Commons");
    }
  }

  /** Versions that pom.xml decides: of single artifacts, and of groups by the lists that it imports. */
  private record Pins(Map<String, String> artifacts, Map<String, String> groups) {

    static Pins read() throws Exception {
      Element project = DocumentBuilderFactory.newInstance().newDocumentBuilder()
          .parse(Checkout.file("pom.xml").toFile()).getDocumentElement();
      Map<String, String> properties = new HashMap<>();
      NodeList all = ((Element) project.getElementsByTagName("properties").item(0)).getElementsByTagName("*");
      for (int i = 0; i < all.getLength(); i++) {
        properties.put("${" + all.item(i).getNodeName() + "}", all.item(i).getTextContent());
      }
      Map<String, String> artifacts = new HashMap<>();
      Map<String, String> groups = new HashMap<>();
      Element management = (Element) project.getElementsByTagName("dependencyManagement").item(0);
      NodeList managed = management.getElementsByTagName("dependency");
      for (int i = 0; i < managed.getLength(); i++) {
        Element dependency = (Element) managed.item(i);
        String version = properties.getOrDefault(child(dependency, "version"), child(dependency, "version"));
        if (child(dependency, "scope").equals("import")) {
          groups.put(child(dependency, "groupId"), version);
        } else {
          artifacts.put(child(dependency, "groupId") + ":" + child(dependency, "artifactId"), version);
        }
      }
      return new Pins(artifacts, groups);
    }

    private static String child(Element of, String name) {
      NodeList found = of.getElementsByTagName(name);
      return found.getLength() == 0 ? "" : found.item(0).getTextContent();
    }

    /** The version that an artifact must have, null where nothing is said of it. */
    String version(String group, String name) {
      String own = artifacts.get(group + ":" + name);
      return own != null ? own : groups.entrySet().stream()
          .filter(list -> group.equals(list.getKey()) || group.startsWith(list.getKey() + ".")).map(Map.Entry::getValue)
          .findAny().orElse(null);
    }
  }
}
