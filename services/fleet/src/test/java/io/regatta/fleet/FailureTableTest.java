package io.regatta.fleet;

import static io.regatta.node.testing.EmbeddedNode.get;
import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.norm.BatchNorm;
import io.regatta.aggregator.AggregatorConfig;
import io.regatta.aggregator.AggregatorVerticle;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.progress.Progress;
import io.regatta.node.Node;
import io.regatta.node.testing.EmbeddedNode;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.program.FitALine;
import io.regatta.program.WideAndDeep;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.LostShard;
import io.regatta.snapshot.ManifestFile;
import io.regatta.snapshot.ModelFiles;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.save.SavedParameters;
import io.regatta.training.snapshot.StartingPoint;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The rows of the table of docs/exit-status.md that are possible in one JVM. A service or a trainer of a job of two
 * ends at a moment of trainer 0's run. Each row is checked against the page as well.
 */
class FailureTableTest {

  private static final String REST = "trainer 0 of job wide-and-deep has saved what is left of the model,";
  private static final String UNFINISHED_LINE =
      "trainer 0 of job fit-a-line has saved the model, not yet trained to its end (";
  private static final String UNTRAINED = "job wide-and-deep has ended without some of its data: trainer 1 (";

  /** TRAINED: a phase of training has ended. BARRIER: in the evaluation. SAVE: between two files of the model. */
  enum Moment { FIRST, MIDDLE, TRAINED, BARRIER, SAVE, END, NEVER }

  /** Servers are counted from 0. */
  enum Who { TRAINER_1, TRAINER_0, SERVER_1, SERVER_2, RENDEZVOUS, AGGREGATOR }

  /** A row: what ends when; how the last trainer ends that is left; where a model is; the row as the page has it. */
  enum Row {
    TRAINER_BEFORE(Who.TRAINER_1, Moment.FIRST, UNTRAINED, "", "| another trainer | before the first step | 1 | model of the others' data |"),
    TRAINER_AMID(Who.TRAINER_1, Moment.MIDDLE, UNTRAINED, "", "| another trainer | in mid-run | 1 | model of what was trained |"),
    TRAINER_BARRIER(Who.TRAINER_1, Moment.BARRIER, null, "", "| another trainer | at a barrier after its training | 0 | model |"),
    TRAINER_END(Who.TRAINER_1, Moment.END, null, "", "| another trainer | in the last gather | 0 | model |"),
    FIRST_AMID(Who.TRAINER_0, Moment.MIDDLE, "job wide-and-deep has ended without some of its data: trainer 0 (", "",
        "| trainer 0 | in mid-run | 1 | model of what was trained |"),
    FIRST_BEFORE(Who.TRAINER_0, Moment.FIRST, "job wide-and-deep has ended without some of its data: trainer 0 (", "",
        "| trainer 0 | before the first step | 1 | model of the others' data |"),
    FIRST_BARRIER(Who.TRAINER_0, Moment.BARRIER, null, "", "| trainer 0 | at a barrier after its training | 0 | model, saved by the next rank |"),
    FIRST_END(Who.TRAINER_0, Moment.END, null, "", "| trainer 0 | in the last gather | 0 | model |"),
    SERVER_BEFORE(Who.SERVER_1, Moment.FIRST, "cannot open a tensor stream to", null,
        "| parameter server | before the first step | 1 | nothing was trained |"),
    SERVER_END(Who.SERVER_1, Moment.END, "trainer 0 of job wide-and-deep has ended, its model is saved in", "",
        "| parameter server | after the model is saved | 1 | model, no result |"),
    RENDEZVOUS_BEFORE(Who.RENDEZVOUS, Moment.FIRST, "rendezvous", null, "| rendezvous | before the first step | 1 | nothing was trained |"),
    SERVER_AMID(Who.SERVER_1, Moment.MIDDLE, REST + " not yet trained to its end (", ".unfinished",
        "| parameter server | in mid-run | 1 | rest of the model, last snapshot |"),
    SERVER_SAVE(Who.SERVER_1, Moment.SAVE, REST + " in", ".unfinished",
        "| parameter server | while trainer 0 saves | 1 | rest of the model, last snapshot |"),
    TRAINER_SAVE(Who.TRAINER_1, Moment.SAVE, null, "", "| another trainer | while trainer 0 saves | 0 | model |"),
    FIRST_SAVE(Who.TRAINER_0, Moment.SAVE, null, "",
        "| trainer 0 | while it saves | 0 | model, saved by the next rank |"),
    RENDEZVOUS_SAVE(Who.RENDEZVOUS, Moment.SAVE, "trainer 0 of job wide-and-deep has ended, its model is saved in", "",
        "| rendezvous | while trainer 0 saves | 1 | model, no result |"),
    AGGREGATOR_AMID(Who.AGGREGATOR, Moment.MIDDLE,
        "trainer 0 of job wide-and-deep has saved the model, not yet trained to its end (", ".unfinished",
        "| aggregator | in mid-run | 1 | model of what was trained, in `DIR.unfinished` |"),
    RENDEZVOUS_AMID(Who.RENDEZVOUS, Moment.MIDDLE, "trainer 0 of job wide-and-deep has saved the model, as the trainers have trained it,",
        "", "| rendezvous | in mid-run | 1 | model, no result |"),
    RENDEZVOUS_BARRIER(Who.RENDEZVOUS, Moment.BARRIER, "trainer 0 of job wide-and-deep has saved the model, as the trainers have trained it,",
        "", "| rendezvous | at a barrier after the training | 1 | model, no result |"),
    RENDEZVOUS_END(Who.RENDEZVOUS, Moment.END, "trainer 0 of job wide-and-deep has ended, its model is saved in", "",
        "| rendezvous | in the last gather | 1 | model, no result |");

    private final Who who;
    private final Moment when;
    /** Null: it succeeds. */
    private final String failure;
    /** Suffix of the output's name; null: none. */
    private final String model;
    private final String inPage;

    Row(Who who, Moment when, String failure, String model, String inPage) {
      this.who = who;
      this.when = when;
      this.failure = failure;
      this.model = model;
      this.inPage = inPage;
    }
  }

  @TempDir
  Path dir;
  @RegisterExtension
  final EmbeddedNode embedded = new EmbeddedNode();
  private final Vertx vertx = embedded.vertx();
  private final Node node = embedded.node();
  private String rendezvous;
  private String aggregator;
  private final List<String> servers = new ArrayList<>();
  private final List<String> trainers = new ArrayList<>();

  /** Ends what a run has left, before another one of the same test. */
  private void end() throws Exception {
    for (String deployed : List.copyOf(vertx.deploymentIDs())) {
      get(vertx.undeploy(deployed));
    }
    servers.clear();
    trainers.clear();
  }

  /** The end of one component at one moment; once. */
  private final class Death {
    private final Who who;
    private final Moment when;
    private final AtomicBoolean done = new AtomicBoolean();

    Death(Who who, Moment when) {
      this.who = who;
      this.when = when;
    }

    /** On a model thread of trainer 0. */
    void at(Moment now) {
      if (when != now || done.getAndSet(true)) {
        return;
      }
      Future<Void> ended = vertx.undeploy(switch (who) {
        case TRAINER_1 -> trainers.get(1);
        case TRAINER_0 -> trainers.get(0);
        case SERVER_1 -> servers.get(1);
        case SERVER_2 -> servers.get(2);
        case RENDEZVOUS -> rendezvous;
        case AGGREGATOR -> aggregator;
      });
      try {
        get(ended); // trainer 0, which waits for itself, is interrupted
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private JobConfig job(String name, String... more) {
    List<String> keys = new ArrayList<>(List.of("mode=sync", "servers=2", "shards=1", "trainers=2",
        "stop_grace_seconds=0")); // who ends here shall be gone, as by kill -9
    keys.addAll(List.of(more));
    String[] all = keys.toArray(String[]::new);
    return name.equals("wide-and-deep") ? Jobs.wideAndDeep(dir, all) : Jobs.config(name, all);
  }

  /** Runs the program on two trainers to the end of both; returns the end of the lowest that has not died. */
  private Future<?> run(JobConfig job, TrainingProgram of, Death... deaths) throws Exception {
    rendezvous = get(vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults())));
    for (int index = 0; index < job.servers(); index++) {
      servers.add(get(vertx.deployVerticle(new ParameterServerVerticle(node,
          ParameterServerConfig.defaults().at(index, job.servers(), job.shards())
              .rootedAt(StartingPoint.directories(job))))));
    }
    if (job.aggregator()) {
      aggregator = get(vertx.deployVerticle(new AggregatorVerticle(node, AggregatorConfig.defaults())));
    }
    Promise<Void> all = Promise.promise();
    TrainingProgram program = worker -> {
      get(all.future());
      if (worker.rank() == 0) {
        at(Moment.FIRST, deaths);
      }
      of.run(worker);
      if (worker.rank() == 0) {
        at(Moment.END, deaths);
      }
    };
    List<TrainerVerticle> verticles = new ArrayList<>();
    List<Future<String>> deployed = new ArrayList<>();
    for (int rank = 0; rank < job.trainers(); rank++) {
      TrainerVerticle verticle = new TrainerVerticle(node, new TrainerConfig(job, rank, ""), program, hook(deaths));
      verticles.add(verticle);
      deployed.add(vertx.deployVerticle(verticle));
    }
    for (Future<String> each : deployed) {
      trainers.add(get(each));
    }
    all.complete();
    for (TrainerVerticle each : verticles) {
      get(each.finished().otherwiseEmpty());
    }
    boolean first = Stream.of(deaths).noneMatch(death -> death.who == Who.TRAINER_0);
    return verticles.get(first ? 0 : 1).finished();
  }

  private static void at(Moment now, Death... deaths) {
    for (Death each : deaths) {
      each.at(now);
    }
  }

  /** The progress of trainer 0. */
  private static Progress hook(Death... deaths) {
    return new Progress() {
      private boolean training;

      @Override
      public void begin(String phase, long examples) {
        training = phase.equals("train");
        if (phase.equals("test")) {
          at(Moment.BARRIER, deaths);
        }
      }

      @Override
      public void advance(long examples) {
        if (training) {
          at(Moment.MIDDLE, deaths);
        }
      }

      @Override
      public void end() {
        if (training) {
          at(Moment.TRAINED, deaths);
        }
      }

      @Override
      public void saving(String file) {
        if (!file.equals(ModelFiles.DENSE)) {
          at(Moment.SAVE, deaths);
        }
      }
    };
  }

  @ParameterizedTest
  @EnumSource
  void a_run_ends_as_the_page_says(Row row) throws Exception {
    JobConfig job = job("wide-and-deep", "epochs=2", "aggregator=" + (row.who == Who.AGGREGATOR));
    Future<?> last = run(job, new WideAndDeep(), new Death(row.who, row.when));
    if (row.failure == null) {
      assertThat(last.succeeded()).as(() -> String.valueOf(last.cause())).isTrue();
    } else {
      assertThat(last.failed()).isTrue();
      assertThat(last.cause()).hasMessageContaining(row.failure);
    }
    if (row.model == null) {
      assertThat(dir.resolve("output/manifest.json")).doesNotExist();
    } else {
      Path model = dir.resolve("output" + row.model);
      SnapshotDirectory.verify(model);
      assertThat(ManifestFile.read(model).containsKey("lost_shards"))
          .isEqualTo(row.who == Who.SERVER_1 && row.when != Moment.END);
    }
    assertThat(Files.readString(Checkout.file("docs/exit-status.md"))).contains(row.inPage);
  }

  /** One server is lost in the evaluation, another one while what is left is saved. */
  @Test
  void the_rest_of_a_model_has_all_but_the_rows_of_the_lost_shards() throws Exception {
    Future<?> last = run(job("wide-and-deep", "servers=3", "threads=2", "epochs=2", "snapshots.every_pass=true"),
        new WideAndDeep(), new Death(Who.SERVER_1, Moment.BARRIER), new Death(Who.SERVER_2, Moment.SAVE));
    Path model = dir.resolve("output.unfinished");
    JsonObject manifest = ManifestFile.read(model);
    List<LostShard> lost = LostShard.in(manifest);
    assertThat(lost).extracting(LostShard::shard).containsExactly(1, 2);
    assertThat(lost).allMatch(shard -> shard.of() == 3 && !shard.missingTables().isEmpty()
        && (shard.denseStep() < 0 || shard.denseStep() == manifest.getLong("step")));
    String missing = LostShard.missingRows(lost);
    assertThat(last.cause()).hasMessageContainingAll(REST + " in " + model, missing + " are missing",
        "lost shards 1 (127.0.0.1:", "the last whole snapshot is " + dir.resolve("output/pass-00001") + " (step ");
    assertThat(dir.resolve("output/manifest.json")).doesNotExist();
    assertThat(rows(model)).isNotEmpty().allMatch(id -> SparsePartition.shardOf(id, 3) == 0);
    assertThat(CommandLineRun.regatta("checkpoint", "verify", model.toString()).out()).contains(missing);
    CommandLineRun predicted = CommandLineRun.regatta("predict", "--model", model.toString(),
        dir.resolve("none.tsv").toString());
    assertThat(predicted.status()).isNotZero();
    assertThat(predicted.failure()).contains("model " + model + " lacks " + missing);
    assertThat(Files.readString(Checkout.file("docs/exit-status.md")))
        .contains("| parameter server | at a barrier after the training | 1 | rest of the model, last snapshot |");
  }

  /** As if a machine had been lost that had both. */
  @Test
  void the_next_trainer_saves_the_rest_of_a_model_if_trainer_0_is_lost_with_a_server() throws Exception {
    Future<?> last = run(job("wide-and-deep"), new WideAndDeep(), new Death(Who.SERVER_1, Moment.BARRIER),
        new Death(Who.TRAINER_0, Moment.BARRIER));
    assertThat(last.cause()).hasMessageContaining(REST.replace("trainer 0", "trainer 1") + " in");
    SnapshotDirectory.verify(dir.resolve("output.unfinished"));
  }

  private static List<Long> rows(Path model) throws Exception {
    List<Long> ids = new ArrayList<>();
    for (FileEntry file : SnapshotDirectory.files(model)) {
      if (file.file().startsWith("table-")) {
        try (SafetensorsFile table = SafetensorsFile.open(model.resolve(file.file()))) {
          long[] some = new long[Math.toIntExact(table.tensor("ids", TensorInfo.I64).elements())];
          table.read("ids", TensorInfo.I64).longs(some, 0, some.length);
          LongStream.of(some).forEach(ids::add);
        }
      }
    }
    return ids;
  }

  /** Dense parameters lie at every trainer: those of the last step, in sync mode, are the model. */
  @Test
  void a_model_without_tables_is_whole_when_a_server_is_lost_after_the_training() throws Exception {
    Path unbroken = dir.resolve("unbroken");
    Future<?> undisturbed = run(line(unbroken), new FitALine(), new Death(Who.SERVER_1, Moment.NEVER));
    assertThat(undisturbed.succeeded()).as(() -> String.valueOf(undisturbed.cause())).isTrue();
    end();
    Path output = dir.resolve("output");
    Future<?> last = run(line(output), new FitALine(), new Death(Who.SERVER_1, Moment.TRAINED));
    assertThat(last.cause()).hasMessageContainingAll(
        "trainer 0 of job fit-a-line has saved the model, as the trainers have trained it, in " + output,
        "the dense parameters on lost shard 1 (", "are those that this trainer pulled last, at step ");
    assertThat(SavedParameters.read(output).distance(SavedParameters.read(unbroken))).isZero();
    assertThat(ManifestFile.read(output).getString("parameters_hash"))
        .isEqualTo(ManifestFile.read(unbroken).getString("parameters_hash"));
  }

  /** Trainer 1 is gone in mid-run, and a server when trainer 0 has trained all of its data. */
  @Test
  void a_model_is_unfinished_when_a_server_is_lost_and_a_trainer_was_before() throws Exception {
    Path output = dir.resolve("output");
    Future<?> last = run(line(output), new FitALine(), new Death(Who.TRAINER_1, Moment.MIDDLE),
        new Death(Who.SERVER_1, Moment.TRAINED));
    assertThat(last.cause()).hasMessageContainingAll(UNFINISHED_LINE,
        " in " + output + ".unfinished", "; without trainer 1 (", "examples not trained");
    assertThat(output.resolve(ManifestFile.NAME)).doesNotExist();
    assertThat(Files.readString(Checkout.file("docs/exit-status.md"))).contains("`...; without trainer 1 (");
  }

  /** Replica 0 has trained all of its part of the data, replica 1 has not. */
  @Test
  void a_model_is_unfinished_when_a_server_is_lost_while_another_replica_trains() throws Exception {
    Path output = dir.resolve("output");
    Death server = new Death(Who.SERVER_1, Moment.MIDDLE);
    CountDownLatch trained = new CountDownLatch(2);
    TrainingProgram program = worker -> new FitALine().run(passing(worker, pass -> {
      if (worker.replica() == 1 && pass == 1) {
        trained.await();
        server.at(Moment.MIDDLE);
      }
    }, trained));
    Future<?> last = run(line(output, "trainers=1", "threads=2", "mode=async"), program);
    assertThat(last.cause()).hasMessageContainingAll(UNFINISHED_LINE,
        " in " + output + ".unfinished");
    assertThat(output.resolve(ManifestFile.NAME)).doesNotExist();
  }

  /** Every rank of a collective job has the whole model. Means that are not trained are those of the rank that saves it. */
  @ParameterizedTest
  @EnumSource(names = {"TRAINER_0", "TRAINER_1"})
  void a_collective_job_keeps_its_model_when_a_trainer_is_lost_after_the_training(Who who) throws Exception {
    Path unbroken = dir.resolve("unbroken");
    Future<?> undisturbed = run(collective(unbroken), worker -> new FitALine().run(normalizing(worker, () -> { })));
    assertThat(undisturbed.succeeded()).as(() -> String.valueOf(undisturbed.cause())).isTrue();
    end();
    Path output = dir.resolve("output");
    Death death = new Death(who, Moment.NEVER);
    CountDownLatch passes = new CountDownLatch(2 * 2); // of two trainers
    AtomicInteger first = new AtomicInteger();
    Future<?> last = run(collective(output), worker -> new FitALine().run(normalizing(worker, () -> {
      passes.countDown();
      if (worker.rank() == 0 && first.incrementAndGet() == 2) {
        passes.await();
        death.at(Moment.NEVER);
      }
    })), death);
    assertThat(last.cause()).hasMessageContainingAll("has saved the model, as the trainers have trained it, in " + output);
    SnapshotDirectory.verify(output);
    assertThat(ManifestFile.read(output).getString("parameters_hash"))
        .isEqualTo(ManifestFile.read(unbroken).getString("parameters_hash"));
    assertThat(Files.readString(Checkout.file("docs/exit-status.md"))).contains("**A collective job** that loses a trainer");
  }

  private JobConfig collective(Path output) {
    return line(output, "mode=collective", "servers=0");
  }

  private interface AfterPass {
    void passed() throws Exception;
  }

  /** A worker whose model has means that are not trained, and that tells when it has trained a pass. */
  private static Worker normalizing(Worker worker, AfterPass after) {
    Class<?>[] type = {Worker.class};
    return (Worker) Proxy.newProxyInstance(Worker.class.getClassLoader(), type, (proxy, method, args) -> {
      if (method.getName().equals("distributedTrainer")) {
        Model model = (Model) args[0];
        model.setBlock(new SequentialBlock().add(BatchNorm.builder().build()).add(model.getBlock()));
      }
      try {
        Object result = method.invoke(worker, args);
        if (method.getName().equals("trainFromDataset")) {
          after.passed();
        }
        return result;
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    });
  }

  private interface BeforePass {
    void pass(int number) throws Exception;
  }

  /** A worker that tells when a pass begins, and of replica 0 when one has ended. */
  private static Worker passing(Worker worker, BeforePass before, CountDownLatch ended) {
    AtomicInteger passes = new AtomicInteger();
    Class<?>[] type = {Worker.class};
    return (Worker) Proxy.newProxyInstance(Worker.class.getClassLoader(), type, (proxy, method, args) -> {
      boolean pass = method.getName().equals("trainFromDataset");
      if (pass) {
        before.pass(passes.getAndIncrement());
      }
      try {
        Object result = method.invoke(worker, args);
        if (pass && worker.replica() == 0) {
          ended.countDown();
        }
        return result;
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    });
  }

  private JobConfig line(Path output, String... more) {
    List<String> keys = new ArrayList<>(List.of("data.dir=" + dir.resolve("data"), "epochs=2", "min_block=1",
        "output=" + output));
    keys.addAll(List.of(more));
    return job("fit-a-line", keys.toArray(String[]::new));
  }
}
