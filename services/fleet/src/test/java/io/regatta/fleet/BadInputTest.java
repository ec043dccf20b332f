package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import io.regatta.aggregator.AggregatorMain;
import io.regatta.fleet.role.Role;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.node.testing.LogLines;
import io.regatta.training.TrainingProgram;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bad input on the command line: one line that says what and where and what to do, and status 2. */
class BadInputTest {

  @TempDir
  Path dir;
  private Path job;

  @BeforeEach
  void write() throws IOException {
    job = Files.writeString(dir.resolve("job.yaml"), "job: tiny\nprogram: org.example.Missing\n");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
      simulate                                        | a job file is missing
      simulate NOWHERE.yaml                           | NOWHERE.yaml does not exist
      simulate JOB --mode fast                        | mode
      simulate JOB --set optimizer.learning_rat=1     | optimizer.learning_rate
      simulate JOB --set batch_size=many              | batch_size
      simulate JOB --set batch_size=0                 | batch_size must be at least 1
      simulate JOB --set nothing                      | key=value
      simulate JOB --trainers 0                       | trainers must be at least 1
      simulate JOB --set aggregator=true --mode async | only sync and half_async
      simulate JOB --set engine=TensorFlow --set program=io.regatta.fleet.LineProgram | engine
      simulate JOB --set optimizer.schedule.kind=piecewise | section 'optimizer.schedule': piecewise needs
      simulate JOB --set sparse_optimizer.kind=sgd --set sparse_optimizer.schedule.warmup_steps=-1 | section 'sparse_optimizer.schedule': warmup_steps must not be negative
      simulate JOB --set data.prefetch_depth=0        | section 'data': prefetch_depth must be 1 to 1024, but is 0 (--set data.prefetch_depth)
      simulate JOB --set data.shuffle_buffer=-1       | section 'data': shuffle_buffer must
      simulate JOB -conf DIR                          | is a directory
      simulate JOB -conf NOWHERE                      | no such file
      train JOB --rendezvous-endpoint a:1             | with a fixed rendezvous at a:1 they are not looked up: give their endpoints, too
      train JOB --local --set init_from=nowhere       | nowhere does not exist; name a snapshot, or a directory that holds some
      simulate JOB --set program_jar=DIR              | is a directory; give the path of the jar
      simulate JOB --frobnicate                       | regatta: there is no option '--frobnicate' (regatta simulate --help lists what there is)
      simulate JOB --mod geo                          | there is no option '--mod'; the nearest one is '--mode'
      simulate JOB --max_steps=5                      | no option '--max_steps'; the nearest one is '--max-steps'
      simulate JOB -seeds a:1                         | there is no option '-seeds'
      simulate JOB --max-steps 5 extra.yaml           | 'extra.yaml' is one argument too many (regatta simulate
      --mode geo simulate JOB                         | options come after the command: regatta simulate ... --mode ...
      --local train JOB                               | options come after the command: regatta train ... --local ...
      --role trainer JOB                              | no seeds: give --seeds
      simulate JOB --slow one=2                       | regatta: --slow one=2: expected RANK=MS
      simulate JOB --slow 1                           | regatta: --slow 1: expected RANK=MS
      simulate JOB --servers two                      | key 'servers': expected int, got "two" (--servers)
      simulate JOB --servers 0                        | servers must be at least 1, not 0 (--servers)
      simulate JOB --set batch_size=-8                | batch_size must be at least 1, not -8 (--set batch_size)
      simulate JOB --ready-timeout 0                  | ready_timeout_seconds must be at least 1, not 0 (--ready-timeout)
      simulate JOB --set foo                          | --set foo: write key=value, for example --set mode=sync
      simulate JOB --set node.foo                     | --set node.foo: write key=value, for example --set node.admin.port=0
      simulate DIR                                    | is a directory
      simulate JOB                                    | org.example.Missing
      train JOB --local                               | org.example.Missing
      simulate JOB --set program_jar=NOWHERE.jar      | NOWHERE.jar
      parity NOWHERE.yaml                             | NOWHERE.yaml does not exist
      status                                          | --seeds
      status --seeds a:1 --set batch_size=2           | unknown key 'batch_size' (--set batch_size)
      status --role trainer                           | there is no option '--role'
      status --server-endpoints a                     | expected host:port
      status --seeds a:b                              | seeds: expected host:port
      train JOB                                       | no seeds: give --seeds HOST:PORT (node.cluster.seeds), or --local
      run JOB --role trainer                          | no seeds: give --seeds HOST:PORT (node.cluster.seeds), or role local
      run JOB --role pserver                          | no seeds: give --seeds HOST:PORT (node.cluster.seeds)
      run JOB --role aggregator                       | no seeds: give --seeds HOST:PORT (node.cluster.seeds)
      train JOB --seeds 127.0.0.1                     | seeds: expected host:port, got "127.0.0.1"
      train JOB --seeds a:b:c                         | seeds: expected host:port, got "a:b:c"
      train JOB --seeds a:70000                       | seeds: expected host:port, got "a:70000"
      simulate JOB --cluster 127.0.0.1                | --cluster: expected host:port, got "127.0.0.1"
      frobnicate                                      | frobnicate
      simulat JOB                                     | the nearest command is 'simulate'
      train JOB --local --pservers=a                  | --pservers: no effect with --local
      train JOB --pservers=a --port=x                 | --port must be a whole number of at least 1, but is "x"
      pserver --port=0                                | --port must be at least 1, not 0
      pserver --port=7164 --frob                      | there is no option '--frob'
      launch JOB --server_num 2                       | --server_num stands behind JOB, where what 'regatta run' takes stands; launch's own options stand before the program: regatta launch --server_num ... JOB
      launch JOB --max-steps 5 --nproc_per_node=2     | --nproc_per_node stands behind JOB
      launch JOB --mode collective --set servers=0 --set collective.store=hazelcast | collective.store is hazelcast, but launch gives its processes fixed endpoints
      simulate JOB --slow 9=5                         | --slow 9=5
      """)
  void is_named(String command, String wanted) {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    CommandLineRun run = CommandLineRun.regatta(command.strip().replace("JOB", job.toString()).replace("DIR", dir.toString()).split(" +"));
    assertThat(run.status()).as(run.err()).isEqualTo(2);
    assertThat(run.failure().lines()).hasSize(1);
    assertThat(run.failure()).contains(wanted.replace("JOB", job.toString()));
    threads.assertNone();
  }

  /** 2: what was given is wrong; 1: it was right, but what was asked for failed, or is not so. */
  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
      checkpoint inspect NOWHERE                     | 2 | NOWHERE does not exist
      checkpoint verify NOWHERE                      | 2 | NOWHERE does not exist
      checkpoint verify JOB                          | 2 | is a file; name the directory
      checkpoint verify DIR                          | 2 | holds neither a model nor a snapshot
      checkpoint inspect DIR                         | 2 | has no manifest.json
      checkpoint reshard NOWHERE DIR/to --shards 2   | 2 | NOWHERE does not exist
      checkpoint merge NOWHERE DIR/to                | 2 | NOWHERE does not exist
      checkpoint export NOWHERE DIR/to               | 2 | NOWHERE does not exist
      checkpoint mend DIR                            | 2 | mend
      predict --model NOWHERE JOB                    | 2 | NOWHERE does not exist
      predict --model DIR JOB                        | 2 | has no manifest.json
      predict --model DIR --format odd JOB           | 2 | odd
      prepare split NOWHERE --parts 2 --to DIR       | 2 | NOWHERE does not exist
      prepare criteo JOB --parts 1 --to DIR          | 2 | line 1
      prepare dictionary NOWHERE --to DIR/words      | 2 | NOWHERE does not exist
      prepare generate --rows 0 --to DIR/made        | 2 | at least one training row
      status --server-endpoints 127.0.0.1:PORT --ready-timeout 1 | 1 | 127.0.0.1:PORT
      """)
  void the_status_tells_who_is_to_mend_it(String command, int status, String wanted) {
    String port = String.valueOf(FreePorts.one());
    CommandLineRun run = CommandLineRun.regatta(command.strip().replace("JOB", job.toString()).replace("DIR", dir.toString())
        .replace("PORT", port).split(" +"));
    assertThat(run.status()).as(run.err()).isEqualTo(status);
    assertThat(run.failure().lines()).hasSize(1);
    assertThat(run.failure()).contains(wanted.replace("PORT", port));
  }

  @Test
  void a_key_that_is_like_none_gets_no_advice() {
    CommandLineRun run = CommandLineRun.regatta("simulate", job.toString(), "--set", "foo=1");
    assertThat(run.failure().strip()).isEqualTo("regatta: unknown key 'foo' (--set foo)");
  }

  @Test
  void a_value_out_of_range_and_a_missing_key_are_named_with_their_file() throws IOException {
    Files.writeString(job, "job: tiny\nbatch_size: -8\n");
    assertThat(CommandLineRun.regatta("simulate", job.toString()).failure().strip())
        .isEqualTo("regatta: batch_size must be at least 1, not -8 (file " + job + ")");
    Files.writeString(job, "");
    assertThat(CommandLineRun.regatta("simulate", job.toString()).failure())
        .contains("key 'job' is missing in file " + job);
  }

  @Test
  void broken_files_are_named_with_their_place() throws IOException {
    Files.writeString(job, "job: tiny\n  mode: [sync\n");
    CommandLineRun run = CommandLineRun.regatta("simulate", job.toString());
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.failure()).contains("job.yaml").contains("line");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      simulate JOB --output JOB                                     | model cannot be saved in JOB: it is a file; choose another directory with --output
      simulate JOB --output JOB/model                               | JOB is a file
      train JOB --local --output JOB                                | it is a file
      train JOB --seeds 127.0.0.1:1 --output JOB                    | it is a file
      simulate JOB --trainers 5000                                  | trainers is 5000, and the rendezvous takes at most 4096 in a job (rendezvous.limits.members)
      simulate JOB --mode geo --set optimizer.kind=adam             | geo mode trains with SGD only, but optimizer.kind is adam
      train JOB --seeds 127.0.0.1:1 --mode geo --set sparse_optimizer.kind=adagrad | sparse_optimizer.kind is adagrad
      simulate JOB --set engine=Tensorflow                          | engine
      train JOB --local --set engine=RPC                            | engine
      """)
  void what_can_be_known_beforehand_is_said_before_anything_starts(String command, String wanted) {
    CommandLineRun run = CommandLineRun.with(new LineProgram(), command.replace("JOB", job.toString()).split(" +"));
    assertThat(run.status()).as(run.err()).isEqualTo(2);
    assertThat(run.failure()).contains(wanted.replace("JOB", job.toString()));
    assertThat(run.err().lines()).as("nothing has started, and so nothing was logged").containsExactly(run.failure());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      census     | simulate         | adult.data and adult.test with --data (data.dir); | https://archive.ics.uci.edu/dataset/2/adult
      census     | parity           | adult.data and adult.test with --data (data.dir); | https://archive.ics.uci.edu/dataset/2/adult
      census     | train --seeds 127.0.0.1:1 | adult.data and adult.test with --data (data.dir); | https://archive.ics.uci.edu/dataset/2/adult
      fit-a-line | simulate --local | holds housing.data with --data (data.dir);        | https://lib.stat.cmu.edu/datasets/boston
      """)
  void data_that_are_not_there_are_named_with_their_source_before_anything_starts(String job, String command, String what,
      String source) throws IOException {
    Files.writeString(Files.createDirectory(dir.resolve("nowhere")).resolve("notes.txt"), "nothing is generated beside it");
    List<String> args = new ArrayList<>(List.of(command.split(" ")));
    args.addAll(List.of(Checkout.file("configs/" + job + ".yaml").toString(), "--data", dir.resolve("nowhere").toString()));
    try (LogLines log = LogLines.of("io.regatta")) {
      CommandLineRun run = CommandLineRun.regatta(args.toArray(String[]::new));
      assertThat(run.status()).as(run.err()).isEqualTo(2);
      assertThat(run.failure().lines()).hasSize(1);
      assertThat(run.failure()).contains(dir.resolve("nowhere").toString(), "does not exist", what, source);
      assertThat(log.lines()).as("nothing has started").isEmpty();
    }
  }

  /** In training data, and in test data, of which one would learn behind the training. */
  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
      train.txt | auto | expected 40 tab-separated columns, found 'click:1 dense_feature:0.5 1:737395'. No line so far is in the format criteo, and this one looks like slots: check that data.format
      test.tsv  | auto | looks like slots
      test.tsv  | csv  | train.txt, line 1: expected a column named label, found
      none      | csv  | which looks like criteo: check that data.format (csv) names the file's format
      """)
  void data_in_another_format_are_named_before_anything_starts(String wrong, String format, String wanted) throws IOException {
    String criteo = "1" + "\t5".repeat(39) + "\n";
    String slots = "click:1 dense_feature:0.5 1:737395\n";
    Path data = Files.createDirectory(dir.resolve("data"));
    for (String file : List.of("train.txt", "test.tsv")) {
      Files.writeString(data.resolve(file), file.equals(wrong) ? slots : criteo);
    }
    try (LogLines log = LogLines.of("io.regatta")) {
      CommandLineRun run = CommandLineRun.regatta("simulate", Checkout.file("configs/ctr-dnn.yaml").toString(), "--data",
          data.toString(), "--output", dir.resolve("model").toString(), "--set", "data.format=" + format, "--set",
          "data.test_files=test.tsv");
      assertThat(run.status()).as(run.err()).isEqualTo(2);
      assertThat(run.failure().lines()).hasSize(1);
      assertThat(run.failure()).contains("line 1", wanted);
      assertThat(run.out()).doesNotContain("starting");
      assertThat(log.lines()).as("nothing has started").isEmpty();
    }
  }

  @Test
  void a_file_and_a_directory_in_each_others_place_are_named_as_such() throws IOException {
    String config = Checkout.file("configs/fit-a-line.yaml").toString();
    CommandLineRun run = CommandLineRun.regatta("simulate", config, "--data", job.toString());
    assertThat(run.status()).as(run.err()).isEqualTo(2);
    assertThat(run.failure()).contains(job + " is a file; give the directory of the data set with --data");
    Path taken = Files.createDirectory(dir.resolve("housing.data"));
    run = CommandLineRun.regatta("simulate", config, "--data", dir.toString());
    assertThat(run.status()).as(run.err()).isEqualTo(2);
    assertThat(run.failure()).contains("data file " + taken + " is a directory");
    run = CommandLineRun.regatta("simulate", Checkout.file("configs/wide-and-deep.yaml").toString(), "--data", job.toString(),
        "--output", dir.resolve("model").toString());
    assertThat(run.status()).as(run.err()).isEqualTo(2);
    assertThat(run.failure()).contains(job + " is a file");
  }

  @Test
  void bad_lines_are_logged_once_for_all_trainers() throws IOException {
    String good = "1 2 3 4 5 6 7 8 9 10 11 12 13 14\n";
    Files.writeString(dir.resolve("housing.data"), good.repeat(20) + "1 2 3\n" + good.replace("1 2", "0 1").repeat(20));
    Path result = dir.resolve("result.json");
    try (LogLines log = LogLines.of("io.regatta.data.BadLines")) {
      CommandLineRun run = CommandLineRun.regatta("simulate", Checkout.file("configs/fit-a-line.yaml").toString(), "--data",
          dir.toString(), "--set", "data.on_bad_line=skip", "--set", "epochs=1", "--result", result.toString());
      assertThat(run.status()).as(run.err()).isEqualTo(0);
      assertThat(log.lines()).hasSize(2);
      assertThat(log.lines().get(0)).contains("housing.data, line 21, column 4");
      assertThat(log.lines().get(1)).contains("skipped 1 line");
    }
    assertThat(new JsonObject(Files.readString(result)).getJsonObject("metrics").getDouble("bad_lines")).isEqualTo(1);
  }

  @Test
  void a_result_that_cannot_be_written_is_named_before_the_run() throws IOException {
    Path file = Files.writeString(dir.resolve("file"), "");
    CommandLineRun run = CommandLineRun.regatta("simulate", job.toString(), "--result", file.resolve("r").toString());
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.failure()).contains(file.toString());
  }

  @Test
  void a_stock_optimizer_is_refused_with_ours_named() {
    TrainingProgram stock = worker -> {
      try (Model model = Model.newInstance("stock")) {
        model.setBlock(Linear.builder().setUnits(1).build());
        worker.distributedTrainer(model, new DefaultTrainingConfig(Loss.l2Loss())
            .optOptimizer(Optimizer.sgd().setLearningRateTracker(Tracker.fixed(0.1f)).build())).initialize(new Shape(1, 3));
      }
    };
    CommandLineRun run = CommandLineRun.with(stock, "simulate", job.toString());
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.failure()).contains("io.regatta.training.optimizer.RegattaOptimizer");
  }

  @Test
  void a_failing_program_ends_the_run_with_its_message() {
    CommandLineRun run = CommandLineRun.with(worker -> {
      throw new IllegalStateException("the well is dry on rank " + worker.rank());
    }, "simulate", job.toString(), "--trainers", "2");
    assertThat(run.status()).as("it is no bad input").isEqualTo(1);
    assertThat(run.failure().lines()).hasSize(1);
    assertThat(run.failure()).contains("failed on trainer", "the well is dry on rank");
  }

  @Test
  void a_mistyped_system_property_is_named_with_the_nearest_key() {
    for (String name : List.of("batchsize", "optimzer.kind", "parameter_servr.shards", "node.admn.port")) {
      System.setProperty("regatta." + name, "8");
      try {
        CommandLineRun run = CommandLineRun.regatta("simulate", job.toString());
        assertThat(run.status()).as(name).isEqualTo(2);
        assertThat(run.failure().lines()).hasSize(1);
        assertThat(run.failure()).contains("system property regatta." + name, "the nearest known key is '");
      } finally {
        System.clearProperty("regatta." + name);
      }
    }
  }

  @Test
  void a_mistyped_environment_variable_is_named_with_the_nearest_key() throws Exception {
    List<String> command = new ArrayList<>(List.of("env", "REGATTA_MAXSTEPS=5", "REGATTA_LOG=WARN"));
    command.addAll(JavaProcess.regattaCommand());
    command.addAll(List.of("simulate", job.toString()));
    try (JavaProcess process = JavaProcess.start("simulation", dir, command)) {
      assertThat(process.status(JavaProcess.SECONDS)).as(process.output()).isEqualTo(2);
      assertThat(process.output()).contains("environment variable REGATTA_MAXSTEPS", "nearest known variable is REGATTA_MAX_STEPS");
    }
  }

  @Test
  void a_service_calls_itself_as_its_user_did() throws Exception {
    List<String> command = JavaProcess.regattaCommand();
    command.addAll(List.of("aggregator", "--help"));
    try (JavaProcess process = JavaProcess.start("help", dir, command)) {
      assertThat(process.status(JavaProcess.SECONDS)).as(process.output()).isZero();
      assertThat(process.output()).contains("Usage: regatta aggregator", AggregatorMain.DESCRIPTION,
          "--seeds=HOST:PORT");
    }
  }

  @Test
  void settings_that_a_built_in_program_does_not_have_are_named() throws IOException {
    Files.writeString(job, "job: tiny\nprogram: io.regatta.program.FitALine\nsettings: {hidden: 8}\n");
    CommandLineRun run = CommandLineRun.regatta("train", job.toString(), "--local");
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.failure()).isEqualTo("regatta: unknown key 'settings.hidden' (file " + job
        + "): there are no keys under 'settings'");
  }

  @Test
  void a_second_trainer_of_the_same_rank_is_refused() throws Exception {
    String[] endpoints = {"--rendezvous-endpoint", "127.0.0.1:" + FreePorts.one(), "--server-endpoints",
        "127.0.0.1:" + FreePorts.one(), job.toString()};
    try (Fleet rendezvous = Fleet.builder().args(endpoints).role(Role.RENDEZVOUS).init();
        Fleet server = Fleet.builder().args(endpoints).role(Role.PSERVER).id(0).init();
        Fleet first = Fleet.builder().args(endpoints).role(Role.TRAINER).id(0).init()) {
      CompletableFuture<Void> services = CompletableFuture.allOf(
          CompletableFuture.runAsync(rendezvous::runServer, task -> new Thread(task).start()),
          CompletableFuture.runAsync(server::runServer, task -> new Thread(task).start()));
      first.initWorker();
      List<String> second = new ArrayList<>(List.of("run", "--role", "trainer", "--id", "0", "--set",
          "program=" + LineProgram.class.getName()));
      second.addAll(List.of(endpoints));
      CommandLineRun run = CommandLineRun.regatta(second.toArray(String[]::new));
      assertThat(run.status()).as(run.err()).isEqualTo(1);
      assertThat(run.failure().lines()).hasSize(1);
      assertThat(run.failure()).contains("rank 0");
      first.stopWorker();
      server.close();
      rendezvous.close();
      services.get(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void a_port_in_use_is_named() throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      List<String> conf = new ArrayList<>(List.of("run", job.toString(), "--role", "pserver", "--id", "0",
          "--server-endpoints", "127.0.0.1:" + taken.getLocalPort(), "--rendezvous-endpoint", "127.0.0.1:1"));
      CommandLineRun run = CommandLineRun.regatta(conf.toArray(String[]::new));
      assertThat(run.status()).isEqualTo(2);
      assertThat(run.failure()).contains(String.valueOf(taken.getLocalPort()));
    }
  }
}
