package io.regatta.fleet;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.ServiceProcess;
import io.regatta.node.directory.Directory;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.TrainingProgram;
import io.regatta.trainer.config.TrainerConfig;
import io.regatta.trainer.result.RunResult;
import io.regatta.trainer.service.TrainerVerticle;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.function.Consumer;

/** One trainer rank of a cluster in this process: its node and its verticle. Any thread. */
final class TrainerProcess implements Run {

  /** How long the last ones of a job may take to leave the rendezvous that ends with this trainer. */
  private static final long OTHERS_MILLIS = 10_000;

  private final Promise<RunResult> result = Promise.promise();
  private final Node.Starting node;
  /** Null: it is elsewhere. */
  private volatile RendezvousVerticle rendezvous;

  private TrainerProcess(NodeConfig config, RendezvousConfig hosted, TrainerConfig trainer, TrainingProgram program,
      Consumer<String> ready) {
    node = Node.begin(config, Directory.TRAINER);
    node.future().compose(n -> hosted == null ? Future.succeededFuture(n) : host(n, hosted)).compose(n -> {
      TrainerVerticle verticle = new TrainerVerticle(n, trainer, program);
      return ServiceProcess.deploy(n, Directory.TRAINER, verticle, ready).compose(id -> verticle.result());
    }).onSuccess(result::tryComplete).onFailure(result::tryFail);
  }

  /**
   * @param hosted the rendezvous of the job, if it is in this process; null: it is elsewhere
   * @param ready gets one line when the trainer has joined
   */
  static TrainerProcess start(NodeConfig config, RendezvousConfig hosted, TrainerConfig trainer, TrainingProgram program,
      Consumer<String> ready) {
    return new TrainerProcess(config, hosted, trainer, program, ready);
  }

  private Future<Node> host(Node n, RendezvousConfig config) {
    RendezvousVerticle verticle = new RendezvousVerticle(n, config);
    return n.vertx().deployVerticle(verticle).map(id -> {
      rendezvous = verticle;
      return n;
    });
  }

  @Override
  public Future<RunResult> result() {
    return result.future();
  }

  @Override
  public Future<Void> close() {
    boolean ended = !result.tryFail(new Cancelled("the trainer was stopped before the end of its run"))
        && result.future().succeeded();
    RendezvousVerticle hosted = rendezvous;
    return (ended && hosted != null ? hosted.idle(OTHERS_MILLIS) : Future.<Void>succeededFuture())
        .transform(done -> node.close());
  }
}
