package io.regatta.trainer;

import io.regatta.node.Directory;
import io.regatta.node.ServiceMain;

/** {@code java -jar trainer.jar -conf FILE}: one trainer rank as a process of its own. */
public final class TrainerMain {

  private TrainerMain() {}

  public static void main(String[] args) {
    run(args, null);
  }

  /** The same with a program given in code; null: the job's. */
  public static void run(String[] args, TrainingProgram program) {
    ServiceMain.run(args, Directory.TRAINER, TrainerConfig.class,
        (node, config) -> new TrainerVerticle(node, config, program),
        new ServiceMain.Shorthand("--result", "FILE", "trainer.result", "writes the run's figures there, as JSON"));
  }
}
