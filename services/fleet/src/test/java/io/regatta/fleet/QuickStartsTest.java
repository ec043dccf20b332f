package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.data.generate.CriteoGenerator;
import io.regatta.data.generate.GeneratedCriteo;
import io.regatta.node.testing.FreePorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands of docs/coming-from-paddle.md, and the output that the page shows. They are read there and run by a
 * shell as they stand, except for addresses, which are of this machine, and settings that make a job small.
 */
class QuickStartsTest {

  private static final int SECONDS = JavaProcess.SECONDS;
  /** A command in the last column of a table, or in a block of its own. */
  private static final Pattern COMMAND = Pattern.compile(
      "(?ms)^\\|[^\n]*\\| `([^`|\n]*regatta [^`|\n]*)` \\|$|^```sh\n(.*?)^```$");
  private static final Pattern OUTPUT = Pattern.compile("(?ms)^```text\\n(.*?)^```$");
  private static final String TINY_IMAGES = " --set settings.image_size=32 --set settings.classes=6 --set settings.train_images=20 "
      + "--set settings.test_images=4 --set batch_size=2 --set data.reader_threads=1 --set device=cpu";

  @TempDir
  Path dir;
  private final List<JavaProcess> processes = new ArrayList<>();
  private final Map<String, String> places = new LinkedHashMap<>();
  private String variables = "";

  @BeforeEach
  void commandLine() throws IOException {
    Files.createSymbolicLink(dir.resolve("configs"), Checkout.file("configs"));
    Path regatta = Files.createDirectory(dir.resolve("bin")).resolve("regatta");
    String java = JavaProcess.regattaCommand("-Xmx600m", "-Djava.io.tmpdir=" + dir).stream().collect(Collectors.joining("' '", "'", "'"));
    Files.writeString(regatta, "#!/bin/sh\nexec " + java + " \"$@\"\n");
    assertThat(regatta.toFile().setExecutable(true)).isTrue();
    Path clicks = dir.resolve("data/criteo");
    CriteoGenerator.ensure(clicks, new CriteoGenerator.Size(1, 4000, 1000, 2));
    Files.delete(clicks.resolve(GeneratedCriteo.NAME)); // they are the user's own now, whatever size the job would generate
  }

  @AfterEach
  void end() {
    processes.forEach(JavaProcess::close);
  }

  private static String section(int number) {
    Matcher section = Pattern.compile("(?ms)^## " + number + "\\. .*?(?=^## )").matcher(Checkout.text("docs/coming-from-paddle.md"));
    assertThat(section.find()).as("section %d", number).isTrue();
    return section.group();
  }

  /** Our commands of a section, in its order. */
  private static List<String> commands(int number) {
    List<String> commands = new ArrayList<>();
    Matcher command = COMMAND.matcher(section(number));
    while (command.find()) {
      commands.add(command.group(1) != null ? command.group(1) : command.group(2));
    }
    return commands;
  }

  private String here(String text) {
    String replaced = text;
    for (Map.Entry<String, String> place : places.entrySet()) {
      replaced = replaced.replace(place.getKey(), place.getValue());
    }
    return replaced;
  }

  /** Starts a command by a shell, which becomes the command, so that its end is the command's. */
  private JavaProcess start(String command) {
    String text = here(command).replaceFirst("(?m)(^|\\s)regatta (?=\\w)", "$1exec regatta ");
    JavaProcess process = JavaProcess.start(text, dir, List.of("env", "--default-signal=INT,TERM", "sh", "-c",
        "PATH=" + dir.resolve("bin") + ":$PATH\nexport PATH\n" + variables + text));
    processes.add(process);
    return process;
  }

  private void succeeds(JavaProcess process) throws Exception {
    assertThat(process.status(SECONDS)).as(process.output()).isZero();
  }

  /** Every line that the page shows has come from some process. */
  private void shows(int section) {
    String all = processes.stream().map(JavaProcess::output).collect(Collectors.joining("\n"));
    Matcher block = OUTPUT.matcher(section(section));
    while (block.find()) {
      assertThat(here(block.group(1)).lines().map(line -> line.replaceFirst("\\.\\.\\.$", "").stripTrailing()))
          .allSatisfy(line -> assertThat(all).contains(line));
    }
  }

  @Test
  void fluid_transpiler() throws Exception {
    places.put("ps0.paddlepaddle.com", "127.0.0.1");
    places.put("ps1.paddlepaddle.com", "127.0.0.2");
    places.put("6174", Integer.toString(FreePorts.one()));
    Random random = new Random(1);
    Files.createDirectories(dir.resolve("data/boston_housing"));
    Files.write(dir.resolve("data/boston_housing/housing.data"), IntStream.range(0, 506).mapToObj(row ->
        random.doubles(14).mapToObj(value -> "%.4f".formatted(10 * value)).collect(Collectors.joining(" "))).toList());
    List<JavaProcess> all = commands(1).stream().map(this::start).toList();
    assertThat(all).hasSize(4);
    succeeds(all.get(2));
    succeeds(all.get(3));
    shows(1);
  }

  @Test
  void fleet_with_launch_ps() throws Exception {
    List<String> commands = commands(2);
    assertThat(commands).hasSize(2);
    for (String command : commands) {
      succeeds(start(command));
    }
    shows(2);
    assertThat(dir.resolve("logs")).isDirectoryContaining("glob:**/serverlog.1").isDirectoryContaining("glob:**/workerlog.1");
  }

  @Test
  void v2_pserver() throws Exception {
    int port = FreePorts.one();
    places.put("7164", Integer.toString(port));
    Random random = new Random(1);
    List<String> lines = IntStream.range(0, 400).mapToObj(line -> IntStream.range(0, 8).mapToObj(word -> "word" + random.nextInt(9))
        .collect(Collectors.joining(" "))).toList();
    Files.write(dir.resolve("book.txt"), lines);
    Files.write(Files.createDirectories(dir.resolve("data/text")).resolve("test.txt"), lines.subList(0, 20));
    List<String> commands = commands(3);
    assertThat(commands).hasSize(5);
    JavaProcess server = start(commands.get(2));
    succeeds(start(commands.get(0)));
    succeeds(start(commands.get(1)));
    server.await(line -> line.contains("Server listening on"), SECONDS);
    JavaProcess many = start("regatta train --pservers=127.0.0.1 --port=7164 --num_gradient_servers=2 --trainer_id=2 configs/word2vec.yaml");
    assertThat(many.status(SECONDS)).isEqualTo(2);
    assertThat(many.output()).contains("regatta: --trainer_id is 2, but --num_gradient_servers says that there are 2");
    succeeds(start(commands.get(3)));
    succeeds(start(commands.get(4)));
    shows(3);
    server.signal("INT");
    assertThat(server.status(SECONDS)).isEqualTo(130);
  }

  @Test
  void fleetx() throws Exception {
    variables = "CUDA_VISIBLE_DEVICES=0,1\nexport CUDA_VISIBLE_DEVICES\n";
    List<String> commands = commands(4);
    assertThat(commands).hasSize(4);
    succeeds(start(commands.get(0) + TINY_IMAGES + " --max-steps 5"));
    succeeds(start(commands.get(3)));
    shows(4);
  }

  @Test
  void fleetx_as_a_graph_and_on_two_machines() throws Exception {
    variables = "CUDA_VISIBLE_DEVICES=0,1\nexport CUDA_VISIBLE_DEVICES\n";
    places.put("--ips=", "--start_port=" + FreePorts.one() + " --ips=");
    places.put("xx.xx.xx.xx", "127.0.0.1");
    places.put("yy.yy.yy.yy", "127.0.0.2");
    places.put("--gpus 0,1,2,3,4,5,6,7", "--gpus 0");
    for (String command : commands(4).subList(1, 3)) {
      succeeds(start(command + TINY_IMAGES + " --max-steps 1"));
    }
  }

  private static final String SMALL_CLICKS = " --set settings.hidden=16 --set epochs=1 --set batch_size=200";

  @Test
  void heter_workers_by_launch() throws Exception {
    List<String> commands = commands(6);
    assertThat(commands).hasSize(3);
    succeeds(start(commands.get(0) + SMALL_CLICKS));
    shows(6);
    assertThat(dir.resolve("log")).isDirectoryContaining("glob:**/serverlog.1").isDirectoryContaining("glob:**/workerlog.1")
        .isDirectoryContaining("glob:**/heterlog.1");
    for (int worker = 0; worker < 2; worker++) {
      assertThat(Files.readString(dir.resolve("log/heterlog." + worker))).contains("heter worker " + worker
          + " of job ctr-dnn serves");
    }
  }

  /** Servers and trainers are those of section 5, with the list of the heter workers. */
  @Test
  void heter_workers_by_hand() throws Exception {
    places.put("10.89.176.11", "127.0.0.1");
    places.put("10.89.176.12", "127.0.0.2");
    places.put("36000", Integer.toString(FreePorts.one()));
    places.put("37000", Integer.toString(FreePorts.one()));
    variables = here("PADDLE_HETER_TRAINER_IP_PORT_LIST=10.89.176.11:37000,10.89.176.12:37000\nexport "
        + "PADDLE_HETER_TRAINER_IP_PORT_LIST\n");
    List<JavaProcess> heterWorkers = commands(6).subList(1, 3).stream().map(command -> start(command.stripTrailing()
        + SMALL_CLICKS)).toList();
    List<JavaProcess> others = commands(5).stream().map(command -> start(command.stripTrailing()
        + SMALL_CLICKS)).toList();
    for (JavaProcess process : others) {
      succeeds(process);
    }
    for (JavaProcess process : heterWorkers) {
      succeeds(process); // they end with the trainers
    }
  }

  @Test
  void paddlerec_by_hand() throws Exception {
    places.put("10.89.176.11", "127.0.0.1");
    places.put("10.89.176.12", "127.0.0.2");
    places.put("36000", Integer.toString(FreePorts.one()));
    List<String> commands = commands(5);
    assertThat(commands).hasSize(4);
    JavaProcess first = start(commands.get(2));
    first.await(line -> line.contains("not ready endpoints"), SECONDS);
    List<JavaProcess> servers = List.of(start(commands.get(0)), start(commands.get(1)));
    succeeds(start(commands.get(3)));
    succeeds(first);
    shows(5);
    for (JavaProcess server : servers) {
      succeeds(server); // they know how many trainers there are, and end with the last one
    }
  }
}
