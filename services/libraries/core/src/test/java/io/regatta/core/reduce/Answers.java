package io.regatta.core.reduce;

import io.regatta.core.exchange.PushAck;
import java.util.concurrent.CompletionStage;

/** The one answer to a push. */
final class Answers {
  PushAck ack;
  Throwable error;

  private Answers() {}

  static Answers to(CompletionStage<PushAck> push) {
    Answers answers = new Answers();
    push.whenComplete((ack, error) -> {
      answers.ack = ack;
      answers.error = error;
    });
    return answers;
  }

  boolean isDone() {
    return ack != null || error != null;
  }
}
