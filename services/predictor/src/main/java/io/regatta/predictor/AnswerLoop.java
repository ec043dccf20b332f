package io.regatta.predictor;

import io.regatta.core.loop.Loop;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of answers from the model's thread to the loop of the port: all that are ready then are one task of the loop.
 * Any thread.
 */
final class AnswerLoop implements Executor {

  private static final Logger LOG = LoggerFactory.getLogger(AnswerLoop.class);

  private final Loop loop;
  private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean called = new AtomicBoolean();

  AnswerLoop(Loop loop) {
    this.loop = loop;
  }

  @Override
  public void execute(Runnable answer) {
    answers.add(answer);
    if (called.compareAndSet(false, true)) {
      loop.execute(this::run);
    }
  }

  private void run() {
    called.set(false);
    for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
      try {
        answer.run();
      } catch (RuntimeException | Error e) { // the other answers do not wait for it
        LOG.error("an answer failed", e);
      }
    }
  }
}
