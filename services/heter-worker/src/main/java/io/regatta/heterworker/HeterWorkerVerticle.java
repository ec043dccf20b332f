package io.regatta.heterworker;

import io.regatta.node.FiniteService;
import io.regatta.node.Node;
import io.regatta.training.TrainingProgram;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;

/** A heter worker as a service. */
public final class HeterWorkerVerticle extends VerticleBase implements FiniteService {

  private final Promise<String> finished = Promise.promise();

  /** Creates a heter worker that runs the job's program, loaded by class name. */
  public HeterWorkerVerticle(Node node, HeterWorkerConfig config) {
    this(node, config, null);
  }

  /** Creates a heter worker that runs a program given in code; null: the job's. */
  public HeterWorkerVerticle(Node node, HeterWorkerConfig config, TrainingProgram program) {
  }

  /** Returns the port that it serves on, once started. */
  public int port() {
    return 0;
  }

  /** Returns the index among the job's heter workers, once started. */
  public int index() {
    return 0;
  }

  /** Completes, with a line for the user, when the job's trainers have ended. */
  @Override
  public Future<String> finished() {
    return finished.future();
  }
}
