package io.regatta.fleet.process;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.ServiceProcess;
import io.regatta.node.directory.Directory;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.result.RunResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** One trainer rank of a cluster in this process: its node and its verticle. Any thread. */
final class TrainerProcess implements Run {

  private final Promise<RunResult> result = Promise.promise();
  /**
   * Completed when the services that end with this trainer are not used any more; bound to no context, since theirs
   * ends with the node.
   */
  private final Promise<Void> idle = Promise.promise();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Node.Starting node;
  private final HostedServices hosted;

  private TrainerProcess(NodeConfig config, HostedServices hosted, TrainerConfig trainer, TrainingProgram program,
      Consumer<String> ready) {
    this.hosted = hosted;
    node = Node.begin(config, Directory.TRAINER);
    node.future().compose(hosted::start).compose(n -> {
      TrainerVerticle verticle = new TrainerVerticle(n, trainer, program);
      return ServiceProcess.deploy(n, Directory.TRAINER, verticle, ready).compose(id -> verticle.result());
    }).onSuccess(result::tryComplete).onFailure(result::tryFail);
  }

  /**
   * Starts the trainer.
   *
   * @param hosted the job's services in this process
   * @param ready gets one line when the trainer has joined
   */
  static TrainerProcess start(NodeConfig config, HostedServices hosted, TrainerConfig trainer, TrainingProgram program,
      Consumer<String> ready) {
    return new TrainerProcess(config, hosted, trainer, program, ready);
  }

  @Override
  public Future<RunResult> result() {
    return result.future();
  }

  /** Closes it. After its run this waits for users of the hosted services; a second call ends the wait. */
  @Override
  public Future<Void> close() {
    boolean ended = !result.tryFail(new Cancelled("the trainer was stopped before the end of its run"))
        && result.future().succeeded();
    if (closing.getAndSet(true) || !ended) {
      idle.tryComplete();
    } else {
      hosted.idle().onComplete(done -> idle.tryComplete());
    }
    return idle.future().transform(done -> node.close());
  }
}
