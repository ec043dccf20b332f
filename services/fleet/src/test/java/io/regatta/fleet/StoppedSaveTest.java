package io.regatta.fleet;

import static io.regatta.node.testing.EmbeddedNode.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.node.Node;
import io.regatta.node.testing.EmbeddedNode;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.program.WideAndDeep;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All trainers of a job are asked to stop, as a launcher does when one of them has failed, at a moment of trainer 0's run. */
class StoppedSaveTest {

  enum Moment { TRAINING, EVALUATION, PROGRAM_ENDED }

  @TempDir
  Path dir;
  @RegisterExtension
  final EmbeddedNode embedded = new EmbeddedNode();
  private final Vertx vertx = embedded.vertx();
  private final Node node = embedded.node();
  private final List<String> trainers = new ArrayList<>();
  private final Promise<Void> stopped = Promise.promise();

  /** Any number of times, on a model thread, which is not to wait for itself. */
  private void stopAll() {
    if (!stopped.future().isComplete()) {
      Future.join(trainers.stream().map(vertx::undeploy).toList()).<Void>mapEmpty().onComplete(done -> stopped.tryComplete());
    }
  }

  @ParameterizedTest
  @EnumSource
  void saves_the_model_first_when_its_training_is_over(Moment moment) throws Exception {
    JobConfig job = Jobs.wideAndDeep(dir, "mode=sync", "servers=1", "shards=1", "trainers=2", "epochs=2");
    get(vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults())));
    get(vertx.deployVerticle(new ParameterServerVerticle(node, ParameterServerConfig.defaults().at(0, 1, 1))));
    Promise<Void> all = Promise.promise();
    TrainingProgram program = worker -> {
      get(all.future());
      new WideAndDeep().run(worker);
      if (worker.rank() == 0 && moment == Moment.PROGRAM_ENDED) {
        stopAll();
      }
    };
    Progress hook = new Progress() {
      private boolean training;

      @Override
      public void begin(String phase, long examples) {
        training = phase.equals("train");
        if (phase.equals("test") && moment == Moment.EVALUATION) {
          stopAll();
        }
      }

      @Override
      public void advance(long examples) {
        if (training && moment == Moment.TRAINING) {
          stopAll();
        }
      }
    };
    List<Future<String>> deployed = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      deployed.add(vertx.deployVerticle(new TrainerVerticle(node, new TrainerConfig(job, rank, ""), program, hook)));
    }
    for (Future<String> each : deployed) {
      trainers.add(get(each));
    }
    all.complete();
    get(stopped.future());
    if (moment == Moment.TRAINING) {
      assertThat(dir.resolve("output/manifest.json")).doesNotExist();
    } else {
      assertThat(dir.resolve("output/manifest.json")).isRegularFile();
    }
  }
}
