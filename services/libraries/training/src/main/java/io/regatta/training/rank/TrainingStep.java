package io.regatta.training.rank;

import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDList;
import ai.djl.training.dataset.Batch;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.training.model.Embeddings;
import io.regatta.training.replica.Gradients;
import io.regatta.training.replica.StepTimes;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A replica's step, from its first forward pass to the values of the next one: knows the examples, takes the gradients, and trades
 * them. Belongs to the model thread.
 */
final class TrainingStep {

  private final Embeddings embeddings;
  private final Iterations iterations;
  private final ReplicaSteps steps;
  private final StepTimes times;
  private final StepExamples examples = new StepExamples();

  TrainingStep(Embeddings embeddings, Iterations iterations, ReplicaSteps steps, StepTimes times) {
    this.embeddings = embeddings;
    this.iterations = iterations;
    this.steps = steps;
    this.times = times;
  }

  StepExamples examples() {
    return examples;
  }

  /**
   * A forward pass of training begins, and with the first one the step.
   *
   * @param labels null: the program has not given them
   */
  void forward(NDList data, NDList labels) {
    if (!examples.isForwarded()) {
      times.begins(steps.made());
    }
    examples.forward(data, labels, iterations.current());
    iterations.trains();
  }

  /**
   * Trades the gradients of the last backward pass for the values of the next step.
   *
   * @param sums over the ranks within the network
   * @throws IllegalStateException if no forward pass has begun the step
   */
  void make(ReplicaValues values, Optional<RankSums> sums) {
    if (!examples.isForwarded()) {
      throw new IllegalStateException("step() without a forward pass since the last one: call trainer.forward(data) "
          + "within a gradient collector of trainer.newGradientCollector(), then its backward(loss), then step()");
    }
    long mark = times.outsideOfWaits();
    List<SparseIds> next = nextIds();
    values.exchange().prefetch(next);
    long weight = examples.weight();
    DenseMemory dense = gradients(values, weight, sums);
    steps.coming(iterations.parts(), weight);
    values.step(new Gradients(weight, dense, rowGradients()), next);
    steps.count(weight);
    examples.stepped();
    times.addSince(StepTimes.Part.PUSH, mark);
    times.ends();
  }

  /**
   * The others make a step, but all lines of this replica's batch were left out as bad. It takes part with no weight,
   * or it would be a batch ahead of them from here on. Nothing happens while a step is begun: a program that takes
   * batches ahead makes its own.
   *
   * @return whether it has taken part
   */
  boolean makeWithNothing(ReplicaValues values) {
    if (examples.isForwarded()) {
      return false;
    }
    iterations.trainsNothing();
    long mark = times.outsideOfWaits();
    steps.coming(iterations.parts(), 0);
    values.step(new Gradients(0, values.noGradients(), List.of()), List.of());
    steps.count(0);
    times.addSince(StepTimes.Part.PUSH, mark);
    return true;
  }

  private static DenseMemory gradients(ReplicaValues values, long weight, Optional<RankSums> sums) {
    try {
      return values.gradients(weight);
    } catch (EngineException e) { // who failed within the engine has kept its reason
      throw sums.<RuntimeException>flatMap(RankSums::failure).orElse(e);
    }
  }

  private List<SparseRows> rowGradients() {
    long begin = times.clock().nanos();
    List<SparseRows> sparse = embeddings.takeGradients();
    if (times.traced()) {
      times.span("gradients of rows out, summed by id", begin, Map.of("rows",
          sparse.stream().mapToLong(rows -> rows.ids().length).sum()));
    }
    return sparse;
  }

  /** The ids of the batch after this one, if it comes out of the iteration that this step trains on. */
  private List<SparseIds> nextIds() {
    Batch next = embeddings.isEmpty() ? null : iterations.next();
    return next == null ? List.of() : embeddings.wish(next);
  }
}
