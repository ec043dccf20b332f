package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A local Maven repository with the artifacts that {@code install} would publish, in front of the build's own. Projects
 * of docs/ are built with it as a user would build them: nothing is installed on this machine, and nothing is
 * downloaded that the build has not used. Confined to its thread.
 */
final class LocalRepository {

  private static final String VERSION = System.getProperty("regatta.version", "0.1.0-SNAPSHOT");
  private static final Pattern MODULE = Pattern.compile("<module>(.+)</module>");

  private final Path directory;

  private LocalRepository(Path directory) {
    this.directory = directory;
  }

  /** Lays out all modules in {@code directory}, which must not be there yet. */
  static LocalRepository in(Path directory) throws IOException {
    LocalRepository repository = new LocalRepository(Files.createDirectory(directory));
    repository.publish("regatta-parent", Checkout.file("pom.xml"), null);
    repository.publish("regatta-bom", Checkout.file("services/libraries/bom/pom.xml"), null);
    List<String> modules = MODULE.matcher(Files.readString(Checkout.file("pom.xml"))).results()
        .map(module -> module.group(1))
        .filter(module -> !module.equals("services/libraries/bom") && !module.equals("load-tests")).toList();
    assertThat(modules).contains("services/libraries/core", "services/fleet");
    for (String module : modules) {
      Path home = Checkout.file(module);
      String artifact = home.getFileName().toString();
      repository.publish(artifact, home.resolve("pom.xml"),
          home.resolve("target/" + artifact + "-" + VERSION + ".jar"));
    }
    return repository;
  }

  private void publish(String artifact, Path pom, Path jar) throws IOException {
    Path home = Files.createDirectories(directory.resolve("io/regatta/" + artifact + "/" + VERSION));
    Files.copy(pom, home.resolve(artifact + "-" + VERSION + ".pom"));
    if (jar != null) {
      Files.copy(jar, home.resolve(jar.getFileName()));
    }
  }

  /** Copies a project of docs/ to {@code copy} and packages it there. */
  Path build(String project, Path copy) throws Exception {
    Path from = Checkout.file(project);
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(f -> !f.startsWith(from.resolve("target"))).toList()) {
        Files.copy(file, copy.resolve(from.relativize(file).toString()), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    String local = System.getProperty("regatta.local.repository", System.getProperty("user.home") + "/.m2/repository");
    try (JavaProcess maven = JavaProcess.start("mvnw", copy, List.of("env",
        "MAVEN_OPTS=" + Checkout.text(".mvn/jvm.config").strip(), Checkout.file("mvnw").toString(), "-B", "-q", "-ntp",
        "-Dmaven.repo.local=" + directory, "-Dmaven.repo.local.tail=" + local,
        "-Dmaven.repo.local.tail.ignoreAvailability=true", "package"))) {
      assertThat(maven.status(JavaProcess.SECONDS)).as(maven.output()).isZero();
    }
    return copy;
  }
}
