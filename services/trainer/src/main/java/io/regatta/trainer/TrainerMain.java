package io.regatta.trainer;

import io.regatta.node.ServiceMain;
import io.regatta.node.directory.Directory;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.run.JobCheck;

/** The main program of {@code java -jar trainer.jar -conf FILE}: one trainer rank as a process of its own. */
public final class TrainerMain {

  public static final String DESCRIPTION = "Runs a trainer as configured by -conf: one rank of a job.";

  private TrainerMain() {}

  public static void main(String[] args) {
    run("trainer", args, null);
  }

  /**
   * Runs it until it ends, and then ends the JVM.
   *
   * @param command as its user typed it
   * @param program given in code; null: the job's
   */
  public static void run(String command, String[] args, TrainingProgram program) {
    ServiceMain.run(args, new ServiceMain.Called(Directory.TRAINER, command, DESCRIPTION), TrainerConfig.class,
        config -> JobCheck.distributed(config.job(), program), (node, config) -> new TrainerVerticle(node, config, program),
        new ServiceMain.Shorthand("--result", "FILE", "trainer.result", "writes the run's figures there, as JSON"));
  }
}
