package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** mvnw runs the distribution of Maven whose checksum stands beside its address, and no other one. */
class MavenWrapperTest {

  private static final int SECONDS = 60;
  /** Programs that mvnw calls, except unzip: so it takes the tar archive, as in an image without unzip. */
  private static final List<String> PROGRAMS = List.of("sh", "uname", "dirname", "basename", "tr", "mktemp", "rm",
      "mkdir", "mv", "ls", "cp", "sha256sum", "tar", "gzip");

  @TempDir
  Path dir;
  private Path programs;
  private Path archive;

  @BeforeEach
  void standIns() throws Exception {
    programs = Files.createDirectory(dir.resolve("programs"));
    for (String program : PROGRAMS) {
      Files.createSymbolicLink(programs.resolve(program), located(program));
    }
    Path maven = Files.createDirectories(dir.resolve("apache-maven-9/bin")).resolve("mvn");
    executable(maven, "#!/bin/sh\necho \"Maven runs $*\"\n");
    archive = dir.resolve("apache-maven-9-bin.tar.gz");
    Process tar = new ProcessBuilder("tar", "czf", archive.toString(), "apache-maven-9").directory(dir.toFile())
        .start();
    assertThat(tar.waitFor()).isZero();
    executable(programs.resolve("wget"),
        "#!/bin/sh\nwhile [ \"$1\" != -O ]; do shift; done\ncp " + archive + " \"$2\"\n");
    Files.copy(Checkout.file("mvnw"), dir.resolve("mvnw"));
  }

  private static Path located(String program) {
    return List.of("/bin", "/usr/bin").stream().map(folder -> Path.of(folder, program)).filter(Files::exists)
        .findFirst().orElseThrow(() -> new AssertionError("no " + program + " here"));
  }

  private static void executable(Path file, String text) throws IOException {
    Files.writeString(file, text);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private String wrapper(String checksum) throws Exception {
    Path properties = Files.createDirectories(dir.resolve(".mvn/wrapper")).resolve("maven-wrapper.properties");
    Files.writeString(properties, "distributionUrl=https://example.org/apache-maven-9-bin.zip\n"
        + "distributionSha256Sum=" + "0".repeat(64) + "\ndistributionSha256SumTarGz=" + checksum + "\n");
    ProcessBuilder mvnw = new ProcessBuilder(dir.resolve("mvnw").toString(), "verify").directory(dir.toFile())
        .redirectErrorStream(true).redirectOutput(dir.resolve("said").toFile());
    mvnw.environment().clear();
    mvnw.environment().put("PATH", programs.toString());
    mvnw.environment().put("HOME", dir.toString());
    Process process = mvnw.start();
    assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).isTrue();
    return process.exitValue() + " " + Files.readString(dir.resolve("said")).strip();
  }

  @Test
  void distribution_with_the_right_checksum_runs() throws Exception {
    byte[] sum = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(archive));
    assertThat(wrapper(HexFormat.of().formatHex(sum))).isEqualTo("0 Maven runs verify");
  }

  @Test
  void distribution_with_another_checksum_is_refused() throws Exception {
    assertThat(wrapper("1".repeat(64))).startsWith("1 ").contains("Failed to validate Maven distribution SHA-256")
        .doesNotContain("Maven runs");
    assertThat(dir.resolve(".m2/wrapper/dists/apache-maven-9")).isEmptyDirectory();
  }

  @Test
  void both_archives_have_a_checksum() {
    assertThat(Checkout.text(".mvn/wrapper/maven-wrapper.properties"))
        .containsPattern("(?m)^distributionSha256Sum=[0-9a-f]{64}$")
        .containsPattern("(?m)^distributionSha256SumTarGz=[0-9a-f]{64}$");
  }
}
