package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code regatta}, in a checkout of its own with stand-ins for java, javac and mvnw. */
class ScriptTest {

  private static final String JAVA = "#!/bin/sh\n"
      + "if [ \"$1\" = -version ]; then echo 'openjdk version \"%s\" 2025-04-15' >&2; exit; fi\n"
      + "echo \"java $* OMP_NUM_THREADS=$OMP_NUM_THREADS OPT_OUT_TRACKING=$OPT_OUT_TRACKING\"\n";
  private static final String MVNW = "#!/bin/sh\necho \"$@\" >> mvnw.log\n"
      + "mkdir -p services/fleet/target && touch services/fleet/target/fleet.jar\n";

  private static final String GATED = "waits for the gate";

  @TempDir
  Path dir;
  private Path home;
  private Path jdk;
  /** Value of REGATTA_CLASSPATH, null: none. */
  private String libraries;

  @BeforeEach
  void checkout() throws IOException {
    home = Files.createDirectory(dir.resolve("checkout"));
    jdk = Files.createDirectories(dir.resolve("jdk/bin")).getParent();
    Files.copy(Checkout.file("regatta"), home.resolve("regatta"));
    executable(home.resolve("mvnw"), MVNW);
    executable(jdk.resolve("bin/javac"), "#!/bin/sh\n");
    java("17.0.15");
  }

  @Test
  void builds_once_and_says_so() throws Exception {
    Output first = regatta(jdk, "simulate", "my job.yaml");
    assertThat(first.status).isZero();
    assertThat(first.text).contains("building").containsPattern("built .*fleet.jar in \\d+ s")
        .contains("fleet.jar simulate my job.yaml OMP_NUM_THREADS=1 OPT_OUT_TRACKING=true");
    assertThat(regatta(jdk, "version").text).doesNotContain("building").contains("fleet.jar version");
    assertThat(regatta(jdk, "--build").text).contains("building").doesNotContain("java -");
    assertThat(Files.readAllLines(home.resolve("mvnw.log"))).hasSize(2)
        .allSatisfy(line -> assertThat(line).contains("-DskipTests", "-pl services/fleet", "-am package"));
  }

  @Test
  void an_archive_of_classes_can_be_made_for_a_jar_that_is_there() throws Exception {
    assertThat(regatta(jdk, "version").text).contains("no archive of classes could be made").doesNotContain("-XX:SharedArchiveFile");
    executable(jdk.resolve("bin/java"), JAVA.formatted("17.0.15")
        + "for a; do case $a in -XX:ArchiveClassesAtExit=*) echo classes > \"${a#*=}\" ;; esac; done\n");
    Output archive = regatta(jdk, "--archive");
    assertThat(archive.status).as(archive.text).isZero();
    assertThat(archive.text).isEmpty();
    assertThat(regatta(jdk, "version").text).contains("-XX:SharedArchiveFile=" + home + "/services/fleet/target/fleet-");
  }

  @Test
  void builds_again_when_sources_have_changed_if_it_can() throws Exception {
    assertThat(regatta(jdk, "version").text).contains("building");
    Path jar = home.resolve("services/fleet/target/fleet.jar");
    Path source = Files.createDirectories(home.resolve("services/libraries/core/src/main/java")).resolve("A.java");
    Files.writeString(source, "class A {}");
    Files.setLastModifiedTime(source, FileTime.fromMillis(Files.getLastModifiedTime(jar).toMillis() - 60_000));
    assertThat(regatta(jdk, "version").text).doesNotContain("building");
    Files.setLastModifiedTime(source, FileTime.fromMillis(Files.getLastModifiedTime(jar).toMillis() + 60_000));
    assertThat(regatta(jdk, "version").text).contains("have changed since the last build", "building",
        "fleet.jar version");
    Files.delete(jdk.resolve("bin/javac"));
    assertThat(regatta(jdk, "version").text).contains("newer than the build, which runs as it is", "fleet.jar version")
        .doesNotContain("building");
  }

  @Test
  void a_failed_build_leaves_no_jar() throws Exception {
    executable(home.resolve("mvnw"), MVNW + "exit 1\n");
    Output output = regatta(jdk, "version");
    assertThat(output.status).isEqualTo(2);
    assertThat(output.text).contains("regatta: the build failed").doesNotContain("java -");
    assertThat(home.resolve("services/fleet/target/fleet.jar")).doesNotExist();
  }

  @Test
  void of_two_callers_one_builds_and_the_other_waits_and_a_lock_of_the_dead_is_taken() throws Exception {
    Path gate = gatedBuild();
    Process first = process(List.of(home.resolve("regatta").toString(), "version"), jdk);
    BufferedReader said = first.inputReader();
    assertThat(said.readLine()).contains("building");
    Process second = process(List.of(home.resolve("regatta").toString(), "version"), jdk);
    assertThat(second.inputReader().readLine()).contains("somebody is building, and is waited for (process " + first.pid() + " ");
    Files.writeString(gate, "go\n");
    assertThat(second.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(second.inputReader().lines().toList()).hasSize(1).allSatisfy(line -> assertThat(line).contains("fleet.jar version"));
    assertThat(Files.readAllLines(home.resolve("mvnw.log"))).hasSize(1);
    executable(home.resolve("mvnw"), MVNW);
    Files.writeString(Files.createDirectory(home.resolve("services/fleet/target/building")).resolve("holder"),
        first.pid() + " " + run(List.of("uname", "-n"), jdk).text);
    first.waitFor();
    assertThat(regatta(jdk, "--build").status).isZero();
    assertThat(home.resolve("services/fleet/target/building")).doesNotExist();
  }

  @Test
  void a_build_that_is_ended_by_sigterm_says_so_by_its_status() throws Exception {
    Path gate = gatedBuild();
    Process build = process(List.of(home.resolve("regatta").toString(), "version"), jdk);
    BufferedReader said = build.inputReader();
    assertThat(said.lines().anyMatch(GATED::equals)).as("Maven's stand-in runs").isTrue();
    build.destroy();
    Process waiting = new ProcessBuilder("sh", "-c", "echo go > " + gate).start(); // before, the build might have ended well
    assertThat(waiting.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(build.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(build.exitValue()).isEqualTo(143);
    assertThat(home.resolve("services/fleet/target")).isEmptyDirectory();
  }

  /** Has builds wait until somebody writes to a pipe. */
  private Path gatedBuild() throws Exception {
    Path gate = dir.resolve("gate");
    assertThat(new ProcessBuilder("mkfifo", gate.toString()).start().waitFor()).isZero();
    executable(home.resolve("mvnw"), MVNW.replace("mkdir", "echo " + GATED + "\ncat " + gate + " > /dev/null\nmkdir"));
    return gate;
  }

  @Test
  void old_missing_and_half_javas_are_named() throws Exception {
    java("11.0.2");
    assertThat(regatta(jdk, "version")).satisfies(o -> {
      assertThat(o.status).isEqualTo(2);
      assertThat(o.text).contains("is Java 11").contains("17 or newer");
    });
    java("1.8.0_292");
    assertThat(regatta(jdk, "version").text).contains("is Java 1:");
    java("25");
    assertThat(regatta(jdk, "version").text).contains("java --sun-misc-unsafe-memory-access=allow");
    Files.delete(home.resolve("services/fleet/target/fleet.jar"));
    Files.delete(jdk.resolve("bin/javac"));
    assertThat(regatta(jdk, "version").text).contains("needs a JDK");
    assertThat(regatta(dir.resolve("nowhere"), "version").text).contains("JAVA_HOME is", "nowhere");
    assertThat(regatta(null, "version").text).contains("no Java found");
  }

  @Test
  void works_through_a_link() throws Exception {
    Path link = Files.createSymbolicLink(dir.resolve("link"), home.resolve("regatta"));
    assertThat(run(List.of(link.toString(), "version"), jdk).text).contains(home + "/services/fleet/target/fleet.jar");
  }

  @Test
  void libraries_beside_its_own_come_with_what_the_manifest_opens() throws Exception {
    libraries = "lib/*:a.jar";
    String line = regatta(jdk, "simulate", "job.yaml").text.lines().filter(l -> l.startsWith("java ")).findFirst().orElseThrow();
    assertThat(line).contains("-cp " + home + "/services/fleet/target/fleet.jar:lib/*:a.jar io.regatta.fleet.command.Regatta simulate job.yaml")
        .doesNotContain("-jar");
    String pom = Files.readString(Checkout.file("pom.xml"));
    for (String opened : pom.replaceAll("(?s).*<Add-Opens>(.*)</Add-Opens>.*", "$1").split(" ")) {
      assertThat(line).contains("--add-opens=" + opened + "=ALL-UNNAMED");
    }
    for (String exported : pom.replaceAll("(?s).*<Add-Exports>(.*)</Add-Exports>.*", "$1").split(" ")) {
      assertThat(line).contains("--add-exports=" + exported + "=ALL-UNNAMED");
    }
  }

  private void java(String version) throws IOException {
    executable(jdk.resolve("bin/java"), JAVA.formatted(version));
  }

  private static void executable(Path file, String text) throws IOException {
    Files.writeString(file, text);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private record Output(int status, String text) {}

  private Output regatta(Path javaHome, String... args) throws Exception {
    List<String> command = new java.util.ArrayList<>(List.of(home.resolve("regatta").toString()));
    command.addAll(List.of(args));
    return run(command, javaHome);
  }

  /** Without a java home, also with a PATH of nothing but the tools that the script calls. */
  private Output run(List<String> command, Path javaHome) throws Exception {
    Process process = process(command, javaHome);
    String text = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return new Output(process.exitValue(), text);
  }

  private Process process(List<String> command, Path javaHome) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    Map<String, String> environment = builder.environment();
    environment.keySet().removeAll(List.of("JAVA_HOME", "OMP_NUM_THREADS", "OPT_OUT_TRACKING", "REGATTA_JAVA_OPTS"));
    environment.remove("REGATTA_CLASSPATH");
    if (libraries != null) {
      environment.put("REGATTA_CLASSPATH", libraries);
    }
    if (javaHome != null) {
      environment.put("JAVA_HOME", javaHome.toString());
    } else {
      Path tools = Files.createDirectories(dir.resolve("tools"));
      for (String tool : List.of("sh", "dirname", "readlink", "sed", "head", "date", "cat")) {
        Files.createSymbolicLink(tools.resolve(tool), where(tool));
      }
      environment.put("PATH", tools.toString());
    }
    Process process = builder.start();
    process.getOutputStream().close();
    return process;
  }

  private static Path where(String tool) {
    return Path.of("/bin", tool).toFile().exists() ? Path.of("/bin", tool) : Path.of("/usr/bin", tool);
  }
}
