package io.regatta.core.shard.internal.push;

import io.regatta.core.dense.DenseSink;
import io.regatta.core.exchange.Push;
import io.regatta.core.shard.internal.job.TimeSlices;
import java.util.List;

/**
 * The application of one push to a job's tables in a mode without rounds, from its begin to its end, as queues and
 * trainers see it. Owned by the shard's thread.
 */
public interface PushApplication {

  /** Whether this is the same push: of the same lives, with the same sequences. */
  boolean isOf(Push other);

  /** Returns the trainers whose gradients are in this push, in the order of the contributors; some may be lost. */
  List<TrainerState> from();

  /** Returns how many examples this push adds to those of a trainer, as the push reports them; 0 if it does not. */
  long examplesAfter(TrainerState t);

  /**
   * Applies what has been taken, and then the dense elements of that push if they are there. Stops after about {@code
   * floats} of work ({@link TimeSlices#FLOATS}).
   *
   * @return the budget that is left, or -1 if there is more to do
   */
  long advance(Push known, long floats);

  /** Returns an upper bound of the rows that applying what has been taken will create. */
  long births();

  /** Returns a sink for the dense elements, which must start from the first one, whatever has been applied. */
  DenseSink sink(int elements);

  /** Returns true if this counts as an update, and false if the NaN policy drops all of it. */
  boolean isUpdate();

  /** Returns how many updates of others were made between the values of its gradients and this one. */
  long staleness();

  /** Whether a part was not applied because it was NaN or infinite. */
  boolean skipped();
}
