package io.regatta.predictor;

import io.regatta.node.ServiceMain;
import io.regatta.node.directory.Directory;
import java.nio.file.Path;

/** The main program of a model as a service in a process of its own. */
public final class PredictorMain {

  public static final String DESCRIPTION = "Serves a saved model over HTTP and gRPC, and follows its job's snapshots.";

  private PredictorMain() {}

  public static void main(String[] args) {
    run("predictor", args);
  }

  /**
   * Runs it until it ends, and then ends the JVM.
   *
   * @param command as its user typed it
   */
  public static void run(String command, String[] args) {
    ServiceMain.run(args, new ServiceMain.Called(Directory.PREDICTOR, command, DESCRIPTION), PredictorConfig.class,
        config -> Predictor.check(Path.of(config.model())), (node, config) -> new PredictorVerticle(node, config, null),
        new ServiceMain.Shorthand("--model", "DIR", "predictor.model", "the model, as a run saved it"),
        new ServiceMain.Shorthand("--follow", "DIR", "predictor.follow", "snapshots to take over as they come"),
        new ServiceMain.Shorthand("--port", "N", "predictor.port", "port of HTTP and gRPC"));
  }
}
