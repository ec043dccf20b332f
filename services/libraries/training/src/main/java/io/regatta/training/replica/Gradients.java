package io.regatta.training.replica;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.reduce.RoundReducer;
import java.util.ArrayList;
import java.util.List;

/**
 * The gradients of one replica's backward pass, or those of several replicas merged.
 *
 * @param examples weight in the mean over replicas and ranks
 * @param dense gradient of the flat dense vector, borrowed by the exchange until its push has been acknowledged
 * @param sparse gradients by table, ids distinct
 */
public record Gradients(double examples, DenseMemory dense, List<SparseRows> sparse) {

  /** Returns the weighted mean of replicas' gradients, in the order given; a single one is returned unchanged. */
  public static Gradients merge(List<Gradients> all) {
    if (all.size() == 1) {
      return all.get(0);
    }
    double examples = 0;
    List<Push> pushes = new ArrayList<>(all.size());
    for (Gradients g : all) {
      examples += g.examples();
      pushes.add(new Push(List.of(new Contributor(pushes.size(), 1, 1, g.examples())), 0, 0, g.dense(), g.sparse()));
    }
    Push merged = RoundReducer.merge(pushes);
    return new Gradients(examples, DenseMemory.of(merged.dense() == null ? null : merged.dense().toArray()),
        merged.sparse());
  }
}
