package io.regatta.load.train;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.fleet.process.ServiceConfigs;
import io.regatta.load.process.Task;
import io.regatta.node.NodeConfig;
import io.regatta.node.settings.StreamConfig;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.protocol.stream.Transport;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.function.Function;

/** Runs of the whole program CTR-DNN, repeated in one warm JVM: with services or without. */
final class ProgramRun implements Task {
  private final JobConfig job;
  private final Function<Progress, RunResult> run;

  /**
   * Plans runs of one server and one trainer in this JVM, async, or of {@code --local}.
   *
   * @param services false: {@code --local}
   * @param setup {@code data}: directory; {@code examples} of a run; {@code batch}
   */
  ProgramRun(boolean services, JsonObject setup) {
    job = job(setup);
    run = services
        ? where -> LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast().withProgress(where)).get(0)
        : where -> LocalRun.run(job, null, where);
  }

  /**
   * Plans runs of one server and one trainer in this JVM, async, which find each other through Hazelcast and exchange
   * tensors over TCP.
   *
   * @param node host, and what protects the ports
   * @param setup as above
   */
  ProgramRun(NodeConfig node, JsonObject setup) {
    job = job(setup);
    StreamConfig tcp = StreamConfig.defaults().withTransport(Transport.GRPC);
    ServiceConfigs services = ServiceConfigs.defaults(job).with(ParameterServerConfig.defaults().withStream(tcp))
        .with(new TrainerConfig(job, -1, "").withStream(tcp));
    run = where -> LocalCluster.run(LocalCluster.Options.of(job).withNode(node).withServices(services)
        .withProgress(where)).get(0);
  }

  private static JobConfig job(JsonObject setup) {
    JsonObject sgd = new JsonObject().put("kind", "sgd");
    return JobConfig.of(new JsonObject().put("job", "load-train").put("program", "io.regatta.program.CtrDnn")
        .put("mode", "async").put("overlap", true).put("servers", 1).put("trainers", 1).put("seed", 1).put("epochs", 1)
        .put("batch_size", setup.getInteger("batch")).put("compute_threads", 1)
        .put("optimizer", sgd.copy().put("learning_rate", 0.1))
        .put("sparse_optimizer", sgd.copy().put("learning_rate", 20))
        .put("data", new JsonObject().put("dir", setup.getString("data")).put("shuffle_buffer", 20_000)
            .put("drop_last", true))
        .put("settings", new JsonObject().put("embedding", 10).put("hidden", new JsonArray().add(400).add(400).add(400))
            .put("gain", 1.414).put("id_space", 1_000_001).put("train_rows", setup.getInteger("examples"))
            .put("test_rows", setup.getInteger("batch")).put("train_files", 1)));
  }

  @Override
  public JsonObject run(JsonObject command) {
    Where where = new Where();
    RunResult result = run.apply(where);
    return new JsonObject().put("examples", result.examples()).put("train_seconds", result.seconds())
        .put("loss", result.loss()).put("where", where.line);
  }

  @Override
  public void close() {}

  /** Keeps the line in which the program reports where the time went. */
  private static final class Where implements Progress {
    private String line = "";

    @Override
    public void line(String text) {
      if (text.startsWith("time: ")) {
        line = text.substring("time: ".length());
      }
    }
  }
}
