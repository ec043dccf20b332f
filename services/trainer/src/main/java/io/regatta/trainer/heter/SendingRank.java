package io.regatta.trainer.heter;

import io.regatta.core.exchange.TrainerId;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A rank that sends batches to heter workers.
 *
 * @param job name
 * @param trainer rank and incarnation, which stay; known when the rank starts to send
 * @param generation of the group, sent with each request
 * @param lastStep that the trainer has made, for messages; -1 if none
 */
public record SendingRank(String job, Supplier<TrainerId> trainer, LongSupplier generation, LongSupplier lastStep) {

  int number() {
    return trainer.get().rank();
  }

  /** Returns the name of the rank in messages: {@code trainer 0 of job ctr}. */
  @Override
  public String toString() {
    return "trainer " + number() + " of job " + job;
  }
}
