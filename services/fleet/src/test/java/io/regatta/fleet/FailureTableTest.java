package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.Node;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.Progress;
import io.regatta.trainer.TrainingProgram;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.TrainerConfig;
import io.regatta.trainer.program.WideAndDeep;
import io.regatta.trainer.service.TrainerVerticle;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The table of docs/failure-modes.md, by the rows that can be had in one JVM: a service or a trainer of a job of two ends at a moment of
 * trainer 0's run. Each row is checked against the page as well.
 */
class FailureTableTest {

  /** For what hangs; it measures nothing. */
  private static final int SECONDS = 120;
  private static final String UNTRAINED = "job wide-and-deep has ended without some of its data: trainer 1 (";

  enum Moment { FIRST, MIDDLE, BARRIER, END }

  enum Who { TRAINER_1, TRAINER_0, SERVER, RENDEZVOUS }

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
    SERVER_BEFORE(Who.SERVER, Moment.FIRST, "cannot open a tensor stream to", null, "| parameter server | before the first step | 1 | nothing was trained |"),
    SERVER_END(Who.SERVER, Moment.END, "trainer 0 of job wide-and-deep has ended, its model is saved in", "",
        "| parameter server | after the model is saved | 1 | model, no result |"),
    RENDEZVOUS_BEFORE(Who.RENDEZVOUS, Moment.FIRST, "rendezvous", null, "| rendezvous | before the first step | 1 | nothing was trained |"),
    SERVER_AMID(Who.SERVER, Moment.MIDDLE, "shard 0", null, "| parameter server | in mid-run | 1 | last snapshot |"),
    SERVER_BARRIER(Who.SERVER, Moment.BARRIER, "shard 0", null, "| parameter server | at a barrier after the training | 1 | last snapshot |"),
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
    /** Behind the name of the output; null: none. */
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
  private Vertx vertx;
  private Node node;
  private String rendezvous;
  private String server;
  private final List<String> trainers = new ArrayList<>();

  @BeforeEach
  void start() {
    vertx = Vertx.vertx();
    node = Node.embedded(vertx, null, "test");
  }

  @AfterEach
  void stop() throws Exception {
    get(node.close().eventually(vertx::close));
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
  }

  private void end(Row row, Moment now, AtomicBoolean done) {
    if (row.when == now && !done.getAndSet(true)) {
      Future<Void> ended = vertx.undeploy(switch (row.who) {
        case TRAINER_1 -> trainers.get(1);
        case TRAINER_0 -> trainers.get(0);
        case SERVER -> server;
        case RENDEZVOUS -> rendezvous;
      });
      try {
        if (row.who != Who.TRAINER_0) { // which would wait for itself
          get(ended);
        }
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_run_ends_as_the_page_says(Row row) throws Exception {
    JobConfig job = Jobs.wideAndDeep(dir, "mode=sync", "servers=1", "shards=1", "trainers=2", "epochs=2",
        "stop_grace_seconds=0"); // who ends here shall be gone, as by kill -9
    rendezvous = get(vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults())));
    server = get(vertx.deployVerticle(new ParameterServerVerticle(node, ParameterServerConfig.defaults().at(0, 1, 1))));
    AtomicBoolean done = new AtomicBoolean();
    Promise<Void> all = Promise.promise();
    TrainingProgram program = worker -> {
      get(all.future());
      if (worker.rank() == 0) {
        end(row, Moment.FIRST, done);
      }
      new WideAndDeep().run(worker);
      if (worker.rank() == 0) {
        end(row, Moment.END, done);
      }
    };
    Progress hook = new Progress() {
      private boolean training;

      @Override
      public void begin(String phase, long examples) {
        training = phase.equals("train");
        if (phase.equals("test")) {
          FailureTableTest.this.end(row, Moment.BARRIER, done);
        }
      }

      @Override
      public void advance(long examples) {
        if (training) {
          FailureTableTest.this.end(row, Moment.MIDDLE, done);
        }
      }
    };
    List<TrainerVerticle> verticles = new ArrayList<>();
    List<Future<String>> deployed = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      TrainerVerticle verticle = new TrainerVerticle(node, new TrainerConfig(job, rank, ""), program, hook);
      verticles.add(verticle);
      deployed.add(vertx.deployVerticle(verticle));
    }
    for (Future<String> each : deployed) {
      trainers.add(get(each));
    }
    all.complete();
    Future<?> last = verticles.get(row.who == Who.TRAINER_0 ? 1 : 0).finished();
    last.toCompletionStage().handle((v, e) -> null).toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
    if (row.failure == null) {
      assertThat(last.succeeded()).as(() -> String.valueOf(last.cause())).isTrue();
    } else {
      assertThat(last.failed()).isTrue();
      assertThat(last.cause()).hasMessageContaining(row.failure);
    }
    if (row.model == null) {
      assertThat(dir.resolve("output/manifest.json")).doesNotExist();
    } else {
      assertThat(dir.resolve("output" + row.model + "/manifest.json")).isRegularFile();
    }
    assertThat(Files.readString(Checkout.file("docs/failure-modes.md"))).contains(row.inPage);
  }
}
