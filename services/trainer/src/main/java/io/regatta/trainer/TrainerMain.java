package io.regatta.trainer;

import io.regatta.node.Directory;
import io.regatta.node.ServiceMain;

/** {@code java -jar trainer.jar -conf FILE}: one trainer rank as a process of its own. */
public final class TrainerMain {

  private TrainerMain() {}

  public static void main(String[] args) {
    ServiceMain.run(args, Directory.TRAINER, TrainerConfig.class, TrainerVerticle::new);
  }
}
