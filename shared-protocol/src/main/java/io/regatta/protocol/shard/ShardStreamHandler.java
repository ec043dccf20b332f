package io.regatta.protocol.shard;

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
 * The receiver of a {@link ShardStreamSession}'s requests: a shard, or an aggregator. All calls are made on the
 * stream's context, in the order of the requests; futures complete on it. A failed future ends the stream with that
 * error.
 */
public interface ShardStreamHandler {

  /**
   * The origin and the address of a request.
   *
   * @param job name
   * @param shard global index of the addressed shard
   * @param shardIncarnation that the sender expects; 0 for any
   * @param generation of the job's group, as the sender knows it
   * @param trainer that sent it
   */
  record Origin(String job, int shard, long shardIncarnation, long generation, TrainerId trainer) {}

  /** See {@link io.regatta.core.exchange.ShardLink#register}. */
  Future<Long> register(Origin from, JobSpec job, long step);

  /**
   * Continues a trainer, which registered on an earlier stream, on this one. Refused unless that life of it is active;
   * also by handlers that do not continue broken streams, as an aggregator.
   */
  default Future<Void> registerAgain(Origin from) {
    return Future.failedFuture(new InvalidInput("a repeated REGISTER of trainer " + from.trainer().rank() + " of job "
        + from.job() + " is served by shards only; register here as for the first time"));
  }

  Future<Void> initialize(Origin from, DenseValues dense);

  Future<PushAck> push(Origin from, Push push);

  /**
   * Begins a push whose dense elements follow.
   *
   * @param known its header and the rows that came before, without a dense gradient
   * @return the sink that takes the elements, and then gets the push without them; null if they are to be kept for
   *     {@link #push}
   * @throws io.regatta.core.error.RegattaException if the push is refused
   */
  default DenseSink begin(Origin from, Push known, int denseSize) {
    return null;
  }

  /**
   * Returns true if all of a push has been accepted before, so that its repeated elements need not be kept. Then
   * {@link #push} gets it without gradients, and answers it.
   *
   * @param known its header
   */
  default boolean isRepeated(Origin from, Push known) {
    return false;
  }

  Future<Pulled> pull(Origin from, Pull pull);

  /**
   * Shrinks; see {@link io.regatta.core.exchange.ShardLink#shrink}. Refused by handlers without tables, as an
   * aggregator.
   */
  default Future<Shrunk> shrink(Origin from, long number, boolean endOfDay) {
    return Future.failedFuture(new InvalidInput("a SHRINK of trainer " + from.trainer().rank() + " of job " + from.job()
        + " is served by shards only; send it to shard " + from.shard() + " directly"));
  }

  /**
   * Handles a leave.
   *
   * @param succeeded the trainer's run has ended with success
   */
  Future<Void> leave(Origin from, boolean succeeded);

  /**
   * Returns the pool of the arrays of received dense vectors; the receiver of a push or initial values releases them.
   */
  default BlockPool blocks() {
    return new BlockPool();
  }

  /** Begins an export; the session asks the cursor for one slice at a time, each in a time slice of its own. */
  Future<ExportCursor> export(Origin from, String table);

  /** Notes that the stream is over, in order or not; not called for a stream that never registered. */
  default void closed(Origin from) {}

  /** An export under way. */
  interface ExportCursor {
    /** Returns the next slice of bounded size, or null at the end. */
    SparseRows next();
  }
}
