package io.regatta.fleet;

import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Trains as {@link LineProgram} does, and ends when the first server has noticed that the launcher has gone. */
public final class OutlivingProgram implements TrainingProgram {

  static final String TRAINED = "trained, and not saved yet";
  private static final Path SERVER_LOG = Path.of("log", "serverlog.0");
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Override
  public void run(Worker worker) throws Exception {
    new LineProgram().run(worker);
    System.out.println(TRAINED);
    long begin = System.nanoTime();
    while (!Files.readString(SERVER_LOG).contains("the launcher has gone")) {
      if (System.nanoTime() - begin > LIMIT.toNanos()) {
        throw new IllegalStateException("the launcher is still there");
      }
      LockSupport.parkNanos(1_000_000);
    }
  }
}
