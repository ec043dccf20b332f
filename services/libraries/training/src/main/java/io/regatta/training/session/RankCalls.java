package io.regatta.training.session;

import com.google.protobuf.Message;
import io.regatta.core.reduce.Elementwise;
import io.regatta.protocol.gather.ElectionResult;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Calls that the programs of all ranks make together outside of steps, in the same order; each blocks until the others
 * have made it. Two implementations: {@link GatheredCalls} at the rendezvous, and {@link OperationCalls} among the
 * ranks. Called on the thread of the leader of a rank's replicas, one at a time.
 */
public interface RankCalls {

  /**
   * Gathers one message of each rank, all of one type.
   *
   * @param operation for messages
   * @param key by which the ranks' calls are matched unless they are matched by order; each is used once
   * @return in the order of ranks
   */
  <M extends Message> List<M> gather(String operation, String key, M mine);

  /**
   * Reduces all ranks' arrays, which have the same length, in the order of ranks; all elements are of the same ranks.
   */
  double[] reduce(String operation, String key, Elementwise how, double[] values);

  /**
   * Runs an operation on one rank for all while the others wait, and returns its result on all ranks. It runs on the
   * lowest rank that can, or, if that one is lost meanwhile, on the next one.
   *
   * @param able true if this rank can
   * @return empty if no rank can
   */
  Optional<ElectionResult> byTheLowest(String operation, String key, boolean able, Supplier<ElectionResult> deed);
}
