package io.regatta.core.reduce;

import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.PushAck;
import java.util.function.BiConsumer;

/** The one answer to a push. */
final class Answers implements BiConsumer<PushAck, RegattaException> {
  PushAck ack;
  RegattaException error;

  @Override
  public void accept(PushAck value, RegattaException failure) {
    if (isDone() || (value == null) == (failure == null)) {
      throw new AssertionError("answered twice, or with neither or both of acknowledgement and error");
    }
    ack = value;
    error = failure;
  }

  boolean isDone() {
    return ack != null || error != null;
  }
}
