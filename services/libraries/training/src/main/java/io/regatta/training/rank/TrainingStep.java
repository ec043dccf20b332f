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
 * A replica's step, from its first forward pass to the values of the next one: it knows the examples, takes the
 * gradients, and exchanges them. Belongs to the model thread.
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
   * Notes a forward pass of training; the first one begins the step.
   *
   * @param labels null if the program has not given them
   */
  void forward(NDList data, NDList labels) {
    if (!examples.isForwarded()) {
      times.begins(steps.made());
    }
    examples.forward(data, labels, iterations.current());
    iterations.trains();
  }

  /**
   * Exchanges the gradients of the last backward pass for the values of the next step.
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
   * Takes part, with weight 0, in a step of the others if all lines of this replica's batch were skipped as bad.
   * Otherwise this replica would be a batch ahead of the others from then on. Does nothing while a step has begun: a
   * program that takes batches ahead makes its own.
   *
   * @return true if it has taken part
   */
  boolean makeWithoutGradient(ReplicaValues values) {
    if (examples.isForwarded()) {
      return false;
    }
    iterations.trainsWithoutBatch();
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
    } catch (EngineException e) { // the layer that failed within the engine has kept its reason
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

  /** Returns the ids of the batch after this one, if it comes from the iteration that this step trains on. */
  private List<SparseIds> nextIds() {
    Batch next = embeddings.isEmpty() ? null : iterations.next();
    return next == null ? List.of() : embeddings.wish(next);
  }
}
