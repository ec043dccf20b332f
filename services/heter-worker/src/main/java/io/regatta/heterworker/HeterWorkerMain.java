package io.regatta.heterworker;

import io.regatta.node.ServiceMain;
import io.regatta.node.directory.Directory;
import io.regatta.training.TrainingProgram;
import io.regatta.training.run.JobCheck;

/** The main program of {@code java -jar heter-worker.jar -conf FILE}: a heter worker in a process of its own. */
public final class HeterWorkerMain {

  public static final String DESCRIPTION = "Runs a heter worker as configured by -conf: it computes the part after the cut of a "
      + "network for trainers.";

  private HeterWorkerMain() {}

  public static void main(String[] args) {
    run("heter-worker", args, null);
  }

  /**
   * Runs it until it ends, and then ends the JVM.
   *
   * @param command as its user typed it
   * @param program given in code; null: the job's
   */
  public static void run(String command, String[] args, TrainingProgram program) {
    ServiceMain.run(args, new ServiceMain.Called(Directory.HETER_WORKER, command, DESCRIPTION), HeterWorkerConfig.class,
        config -> JobCheck.computing(config.job(), program), (node, config) -> new HeterWorkerVerticle(node, config, program));
  }
}
