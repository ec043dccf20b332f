package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line's own texts: help with examples, versions, completion. */
class CommandHelpTest {

  @Test
  void version_names_the_parts_and_the_machine_without_starting_an_engine() {
    CommandLineRun version = CommandLineRun.regatta("version");
    assertThat(version.status()).isZero();
    assertThat(version.out()).startsWith("regatta ").containsPattern("(?m)^  Vert.x +5\\.").containsPattern("(?m)^  Hazelcast +5\\.")
        .containsPattern("(?m)^  DJL +0\\.").containsPattern("(?m)^  MXNet +1\\.9\\.1, native library ").containsPattern("(?m)^  CPU +\\d+ cores, ")
        .containsPattern("(?m)^  GPU +\\S");
  }

  @Test
  void bash_completes_commands_and_options(@TempDir Path dir) throws Exception {
    CommandLineRun script = CommandLineRun.regatta("completion", "bash");
    assertThat(script.status()).isZero();
    assertThat(CommandLineRun.regatta("completion", "fish").status()).isEqualTo(2);
    Path file = Files.writeString(dir.resolve("completion"), script.out() + "\nCOMP_CWORD=1\n"
        + "COMP_WORDS=(regatta par); _complete_regatta; echo \"found ${COMPREPLY[*]}\"\n"
        + "COMP_WORDS=(regatta launch --server_n); COMP_CWORD=2; _complete_regatta; echo \"found ${COMPREPLY[*]}\"\n");
    Process bash = new ProcessBuilder("bash", file.toString()).redirectErrorStream(true).start();
    String said = new String(bash.getInputStream().readAllBytes());
    assertThat(bash.waitFor()).as(said).isZero();
    assertThat(said).contains("found parity").contains("found --server_num");
  }

  /** At a terminal of its own, which is the only place where zsh completes anything. */
  @Test
  void zsh_completes_commands_options_values_and_files(@TempDir Path dir) throws Exception {
    String script = CommandLineRun.regatta("completion", "zsh").out();
    assertThat(script).contains("complete").contains("regatta");
    if (!Files.isExecutable(Path.of("/usr/bin/zsh"))) {
      System.out.println("no zsh here: its completion has not been tried, only bash's, which has the same words");
      return;
    }
    Files.writeString(dir.resolve("completion"), script);
    Files.createFile(Files.createDirectory(dir.resolve("jobs")).resolve("mine.yaml"));
    Files.writeString(dir.resolve("terminal"), """
        zmodload zsh/zpty
        try() {
          zpty z zsh -f -i
          zpty -w z 'source ./completion; PS1=REA""DY'
          zpty -r z said '*READY*'
          zpty -w -n z "$1"$'\t'
          zpty -r z said "*$2*" && print -r -- "$1 = $2"
          zpty -d z
        }
        try 'regatta par' 'regatta parity'
        try 'regatta launch --server_n' 'regatta launch --server_num'
        try 'regatta completion z' 'regatta completion zsh'
        try 'regatta simulate jo' 'regatta simulate jobs*/'
        try 'regatta simulate jobs/m' 'regatta simulate jobs/mine.yaml'
        """);
    ProcessBuilder zsh = new ProcessBuilder("zsh", "-f", "terminal").directory(dir.toFile()).redirectErrorStream(true)
        .redirectOutput(dir.resolve("said").toFile());
    zsh.environment().put("TERM", "xterm");
    Process process = zsh.start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(Files.readString(dir.resolve("said"))).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(Files.readAllLines(dir.resolve("said"))).hasSize(5);
  }
}
