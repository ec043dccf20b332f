package io.regatta.protocol;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.vertx.core.Future;

/**
 * What stands behind a {@link ShardStreamSession}: a shard, or an aggregator. All calls are made on the stream's
 * context, in the order of the requests; futures complete on it. A failed future ends the stream with that error.
 */
public interface ShardStreamHandler {

  /**
   * From whom a request came, to whom and in which generation.
   *
   * @param job name
   * @param shard global index of the addressed shard
   * @param shardIncarnation the sender believes in; 0 if it does not care
   * @param generation of the job's group, as the sender knows it
   * @param trainer who sent it
   */
  record Origin(String job, int shard, long shardIncarnation, long generation, TrainerId trainer) {}

  /** See {@link io.regatta.core.exchange.ShardLink#register}. */
  Future<Long> register(Origin from, JobSpec job, long step);

  /**
   * A trainer that registered on an earlier stream goes on with this one. Refused unless that life of it is active; and by
   * who does not serve broken streams on, as an aggregator.
   */
  default Future<Void> registerAgain(Origin from) {
    return Future.failedFuture(new InvalidInput("a repeated REGISTER of trainer " + from.trainer().rank() + " of job "
        + from.job() + " is served by shards only; register here as for the first time"));
  }

  Future<Void> initialize(Origin from, DenseValues dense);

  Future<PushAck> push(Origin from, Push push);

  /**
   * A push whose dense elements follow.
   *
   * @param known its header and the rows that came before, without a dense gradient
   * @return who takes the elements, and then gets the push without them; null if they are to be kept for {@link #push}
   * @throws io.regatta.core.error.RegattaException if the push is refused
   */
  default DenseSink begin(Origin from, Push known, int denseSize) {
    return null;
  }

  /**
   * Whether all of a push has been taken in before, so that what comes of it again need not be kept; {@link #push} gets it
   * without gradients, and answers it.
   *
   * @param known its header
   */
  default boolean isRepeated(Origin from, Push known) {
    return false;
  }

  Future<Pulled> pull(Origin from, Pull pull);

  /** See {@link io.regatta.core.exchange.ShardLink#shrink}. Refused by who has no tables, as an aggregator. */
  default Future<Shrunk> shrink(Origin from, long number, boolean endOfDay) {
    return Future.failedFuture(new InvalidInput("a SHRINK of trainer " + from.trainer().rank() + " of job " + from.job()
        + " is served by shards only; send it to shard " + from.shard() + " directly"));
  }

  /** Returns this shard's sums as {@link io.regatta.core.exchange.ShardLink#norms} does. Aggregators refuse the call. */
  default Future<double[]> norms(Origin from, long step) {
    return Future.failedFuture(new InvalidInput("TENSOR_NORMS of trainer " + from.trainer().rank() + " of job " + from.job()
        + " is served by shards only; send it to shard " + from.shard() + " directly"));
  }

  /**
   * Takes the sums of whole tensors as {@link io.regatta.core.exchange.ShardLink#totals} does; answers with no sums.
   * Aggregators refuse the call.
   */
  default Future<double[]> totals(Origin from, long step, double[] totals) {
    return norms(from, step);
  }

  /** @param succeeded the trainer's run has ended with success */
  Future<Void> leave(Origin from, boolean succeeded);

  /** Of whose arrays received dense vectors are made; who takes a push or initial values releases them. */
  default BlockPool blocks() {
    return new BlockPool();
  }

  /** Begins an export; the session asks the cursor for one slice at a time, each in a turn of its own. */
  Future<ExportCursor> export(Origin from, String table);

  /** The stream is over, cleanly or not; not called for a stream that never registered. */
  default void closed(Origin from) {}

  /** An export under way. */
  interface ExportCursor {
    /** The next slice of bounded size, or null at the end. */
    SparseRows next();
  }
}
