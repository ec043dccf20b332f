package io.regatta.training.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.optim.Adagrad;
import io.regatta.core.optim.Adam;
import io.regatta.core.optim.ElementwiseOptimizer;
import io.regatta.core.optim.Ftrl;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerRegistry;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.OptimizerType;
import io.regatta.core.optim.Sgd;
import io.regatta.data.LoaderOptions;
import io.regatta.node.address.HostPort;
import io.regatta.node.group.GroupNames;
import io.regatta.node.settings.Schema;
import io.regatta.node.settings.Settings;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JobConfigTest {

  private static JobConfig job(JsonObject more) {
    return JobConfig.of(new JsonObject().put("job", "j").mergeIn(more, true));
  }

  @Test
  void everyKeyIsDocumented() {
    assertThat(Settings.describe(TrainerConfig.class)).extracting(Schema.Entry::doc).doesNotContain("");
  }

  private static JobConfig collective(String store, int minTrainers) {
    return job(new JsonObject().put("mode", "collective").put("trainers", 3)
        .put("collective", new JsonObject().put("store", store).put("min_trainers", minTrainers)));
  }

  @Test
  void trainersMeetAtTheServiceOrOverAStore_whereTheJobIsElastic() {
    assertThat(collective("service", 0).worldSize().elastic()).isFalse();
    assertThat(collective("service", 0).isOverStore()).isFalse();
    JobConfig files = collective("file:/mnt/meeting", 0);
    assertThat(files.collective().meeting()).isEqualTo(new MeetingStore(MeetingStore.Kind.FILE, Path.of("/mnt/meeting"), null));
    assertThat(files.worldSize().elastic()).isTrue();
    assertThat(files.elasticBy()).isEqualTo("collective.store");
    assertThat(collective("service", 2).elasticBy()).isEqualTo("collective.min_trainers");
    assertThat(files.worldSize().min()).isEqualTo(3);
    assertThat(collective("hazelcast", 2).worldSize().min()).isEqualTo(2);
    assertThat(collective("http://10.0.0.1:6767/", 2).collective().meeting().server()).isEqualTo(new HostPort("10.0.0.1", 6767));
    for (String bad : List.of("", "files", "file:", "http://", "http://a", "http://a:1/scope", "https://a:1")) {
      assertThatThrownBy(() -> collective(bad, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("collective: store");
    }
    assertThatThrownBy(() -> job(new JsonObject().put("collective", new JsonObject().put("store", "hazelcast"))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("mode sync need the rendezvous");
    assertThatThrownBy(() -> job(new JsonObject().put("mode", "collective").put("data", new JsonObject().put("ordered", false))
        .put("collective", new JsonObject().put("store", "hazelcast")))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("data.ordered: true");
  }

  @Test
  void modesMayBeWrittenWithADash() {
    assertThat(job(new JsonObject().put("mode", "half-async")).mode()).isEqualTo(Mode.HALF_ASYNC);
  }

  @Test
  void theSparseOptimizerIsTheOthersUnlessItHasAKind() {
    JsonObject adam = new JsonObject().put("kind", "adam").put("learning_rate", 0.1);
    assertThat(job(new JsonObject().put("optimizer", adam)).sparseOptimizer().toSpec())
        .isEqualTo(OptimizerSpec.of(new Adam(0.9f, 0.999f, 1e-8f), 0.1));
    assertThat(job(new JsonObject().put("sparse_optimizer", new JsonObject().put("kind", "adagrad")
        .put("learning_rate", 0.5))).sparseOptimizer().toSpec().optimizer()).isEqualTo(new Adagrad(1e-6f, 0));
    assertThatThrownBy(() -> job(new JsonObject().put("sparse_optimizer", new JsonObject().put("learning_rate", 1))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("give kind too");
  }

  @Test
  void ftrlHasKeysOfItsOwnAndNaiveIsPlainSgd() {
    JsonObject ftrl = new JsonObject().put("kind", "ftrl").put("learning_rate", 0.1).put("beta", 2).put("l1", 0.5)
        .put("l2", 0.25);
    OptimizerSpec spec = job(new JsonObject().put("optimizer", ftrl)).optimizer().toSpec();
    assertThat(spec.optimizer()).isEqualTo(new Ftrl(2, 0.5f, 0.25f, 0));
    JsonObject naive = new JsonObject().put("kind", "naive").put("learning_rate", 0.1);
    assertThat(job(new JsonObject().put("optimizer", naive)).optimizer().toSpec().optimizer())
        .isEqualTo(new Sgd());
    assertThatThrownBy(() -> job(new JsonObject().put("optimizer", naive.put("weight_decay", 0.1))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("naive");
  }

  @Test
  void keysOfOptimizersAreThoseOfTheRegistry() {
    for (OptimizerType type : OptimizerRegistry.all()) {
      if (!(type.defaults() instanceof ElementwiseOptimizer)) {
        continue;
      }
      JsonObject section = new JsonObject().put("kind", type.name().toUpperCase(Locale.ROOT));
      Map<String, Object> values = new LinkedHashMap<>();
      type.parameters().forEach(p -> values.put(p.key(), p.isFlag() ? (Object) true : (Object) 0.5f));
      values.forEach(section::put);
      JobConfig job = job(new JsonObject().put("optimizer", section));
      assertThat(job.optimizer().toSpec().optimizer()).isEqualTo(type.of(values));
    }
  }

  @Test
  void slipsInOptimizersAreNamed() {
    assertRefused(new JsonObject().put("kind", "adam").put("beta_1", 0.5), "unknown key 'optimizer.beta_1'",
        "the nearest known key is 'optimizer.beta1'");
    assertRefused(new JsonObject().put("kind", "adm"), "optimizer.kind", "auto | naive | sgd | momentum | adagrad | adam");
    assertRefused(new JsonObject().put("kind", "adam").put("beta2", 1), "section 'optimizer': optimizer adam: beta2 is 1.0");
    assertRefused(new JsonObject().put("kind", "sgd").put("beta2", 1), "beta2 is 1.0"); // not used, but no value for it
    assertRefused(new JsonObject().put("kind", "momentum").put("nesterov", 3), "optimizer.nesterov", "expected boolean");
    JsonObject others = new JsonObject().put("kind", "sgd").put("beta2", 0.5).put("momentum", 0.25).put("epsilon", 0);
    assertThat(job(new JsonObject().put("optimizer", others)).optimizer().toSpec()).isEqualTo(OptimizerSpec.sgd(0.01));
    assertThat(job(new JsonObject().put("optimizer", others.copy().put("kind", "adam"))).optimizer().toSpec().optimizer())
        .as("0: the rule's own").isEqualTo(new Adam(0.9f, 0.5f, 1e-8f));
  }

  private static void assertRefused(JsonObject optimizer, String... words) {
    assertThatThrownBy(() -> job(new JsonObject().put("optimizer", optimizer))).isInstanceOf(InvalidInput.class)
        .message().contains(words);
  }

  @Test
  void schedulesBecomeCoresValues() {
    JsonObject piecewise = new JsonObject().put("kind", "sgd").put("schedule",
        new JsonObject().put("kind", "piecewise").put("boundaries", List.of(10)).put("values", List.of(0.5, 0.25)));
    LearningRate rate = job(new JsonObject().put("optimizer", piecewise)).optimizer().toSpec().learningRate();
    assertThat(rate.at(9)).isEqualTo(0.5);
    assertThat(rate.at(10)).isEqualTo(0.25);
    assertThatThrownBy(() -> job(new JsonObject().put("optimizer", new JsonObject().put("schedule",
        new JsonObject().put("kind", "step"))))).hasMessageContaining("decay_steps of at least 1");
  }

  @Test
  void ratesGrowWithTheReplicas() {
    JsonObject optimizer = new JsonObject().put("kind", "sgd").put("learning_rate", 0.1).put("linear_scaling", true)
        .put("schedule", new JsonObject().put("warmup_steps", 10).put("warmup_start", 0.1));
    JobConfig job = job(new JsonObject().put("trainers", 4).put("threads", 2).put("optimizer", optimizer));
    LearningRate rate = job.optimizer().toSpec(job.replicas()).learningRate();
    assertThat(rate.at(0)).as("the warm-up begins with the rate of one replica").isEqualTo(0.1);
    assertThat(rate.at(10)).isEqualTo(0.8);
    assertThat(job.optimizer().toSpec(1).learningRate().at(10)).isEqualTo(0.1);
  }

  @Test
  void deltasThatWouldNeverBeTakenAreRefused() {
    JsonObject snapshots = new JsonObject().put("dir", "snapshots").put("every_steps", 20).put("deltas", 3).put("batch_every_steps", 10);
    assertThatThrownBy(() -> job(new JsonObject().put("snapshots", snapshots))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("no base or delta would ever be taken").hasMessageContaining("every_steps 20");
    for (String key : new String[] {"none", "batch_every_steps"}) {
      JsonObject without = new JsonObject().put("dir", "snapshots").put("deltas", 3);
      assertThatThrownBy(() -> job(new JsonObject().put("snapshots", key.equals("none") ? without : without.put(key, 10))))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("neither every_steps nor every_pass");
    }
    assertThat(job(new JsonObject().put("snapshots", snapshots.copy().put("every_pass", true))).snapshots().deltas()).isEqualTo(3);
    assertThat(job(new JsonObject().put("snapshots", snapshots.copy().put("every_steps", 15))).snapshots().deltas()).isEqualTo(3);
  }

  @Test
  void slipsAreNamed() {
    assertThatThrownBy(() -> job(new JsonObject().put("trainer", 3))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("trainer").hasMessageContaining("trainers");
    assertThatThrownBy(() -> job(new JsonObject().put("trainers", 0))).hasMessageContaining("at least 1, not 0");
    assertThatThrownBy(() -> job(new JsonObject().put("job", GroupNames.PARAMETER_SERVERS)))
        .isInstanceOf(InvalidInput.class).hasMessage("job: (parameter servers) begins with a parenthesis, as the names "
            + "of the services' own groups do; give the job another name");
    assertThatThrownBy(() -> job(new JsonObject().put("mode", "geo").put("aggregator", true)))
        .hasMessageContaining("only sync and half_async");
    for (int depth : new int[] {0, 1025}) {
      assertThatThrownBy(() -> job(new JsonObject().put("data", new JsonObject().put("prefetch_depth", depth))))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("prefetch_depth must be 1 to 1024, but is " + depth);
      assertThatThrownBy(() -> LoaderOptions.inOrder(1).readers(1, depth, true)).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("prefetch_depth must be 1 to 1024, but is " + depth);
    }
    assertThatThrownBy(() -> new TrainerConfig(job(new JsonObject().put("trainers", 2)), 2, ""))
        .hasMessageContaining("rank 2 is not one of the job's 2 trainers");
  }

  @Test
  void a_program_may_have_the_former_name_of_its_package() {
    JobConfig job = job(new JsonObject().put("program", "io.regatta.trainer.program.WideAndDeep"));
    assertThat(job.program()).isEqualTo("io.regatta.program.WideAndDeep");
  }

  private static JobConfig heter(JsonObject heter, JsonObject more) {
    return job(new JsonObject().put("heter", heter).mergeIn(more, true));
  }

  @Test
  void batchesInFlightAreReplicas() {
    assertThat(heter(new JsonObject().put("workers", 2).put("in_flight", 3), new JsonObject()).threads()).isEqualTo(3);
    assertThat(heter(new JsonObject().put("workers", 2), new JsonObject().put("threads", 4)).threads()).isEqualTo(4);
    assertThat(heter(new JsonObject(), new JsonObject()).heter().isCut()).isFalse();
  }

  @Test
  void whatACutNetworkCannotHaveIsRefused() {
    JsonObject none = new JsonObject();
    refused(new JsonObject().put("workers", -1), none, "heter.workers must be at least 0");
    refused(new JsonObject().put("in_flight", 0), none, "heter.in_flight must be at least 1");
    refused(new JsonObject().put("in_flight", 2), new JsonObject().put("threads", 3), "heter.in_flight is 2 and threads is 3");
    refused(new JsonObject().put("in_flight", 2), new JsonObject().put("mode", "collective"), "in mode collective");
    refused(new JsonObject().put("workers", 1), new JsonObject().put("execution", "symbolic"), "execution: imperative");
    refused(new JsonObject().put("device", "tpu"), none, "heter.device is 'tpu'");
    JsonObject servers = new JsonObject().put("workers", 1).put("dense", "servers");
    refused(servers, new JsonObject().put("mode", "geo"), "but the mode is geo; use heter.dense: trainers");
    refused(servers, new JsonObject().put("mode", "collective"), "but the mode is collective");
    refused(servers, new JsonObject().put("aggregator", true), "but aggregator is true");
    refused(new JsonObject().put("dense", "collective"), none, "heter.dense: collective is not built yet");
    for (JsonObject elastic : List.of(new JsonObject().put("min_trainers", 1), new JsonObject().put("store", "hazelcast"))) {
      refused(new JsonObject().put("workers", 1), new JsonObject().put("mode", "collective").put("trainers", 2).put("collective", elastic)
          .put("data", new JsonObject().put("shard_by", "position").put("ordered", true)), "heter.workers is 1, but the job is elastic");
    }
  }

  private static void refused(JsonObject heter, JsonObject more, String part) {
    assertThatThrownBy(() -> heter(heter, more)).isInstanceOf(InvalidInput.class).hasMessageContaining(part);
  }
}
