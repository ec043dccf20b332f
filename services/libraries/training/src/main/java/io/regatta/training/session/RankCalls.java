package io.regatta.training.session;

import io.regatta.core.reduce.Elementwise;
import java.util.List;
import java.util.function.Supplier;

/**
 * Calls that the programs of all ranks make together beside steps, in the same order; each blocks until the others have
 * made it. Two implementations: {@link GatheredCalls} at the rendezvous, and {@link OperationCalls} among the ranks.
 * Called on the thread of the leader of a rank's replicas, one at a time.
 */
public interface RankCalls {

  /**
   * Gathers each rank's values; they may differ in length.
   *
   * @param operation for messages
   * @param key by which the ranks' calls are matched where that is not done by their order; each once
   * @return in the order of ranks
   */
  List<double[]> gather(String operation, String key, double[] mine);

  /**
   * Reduces all ranks' arrays, which are of one length, in the order of ranks; all elements come from the same ranks.
   */
  double[] reduce(String operation, String key, Elementwise how, double[] values);

  /**
   * Has one rank do something for all while the others wait, and all get what it returns: the lowest of those that can;
   * if that is lost on the way, the next one.
   *
   * @param able whether this rank can
   * @return empty if no rank can
   */
  double[] byTheLowest(String operation, String key, boolean able, Supplier<double[]> deed);
}
