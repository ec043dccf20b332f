package io.regatta.training.rank;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.SparseIds;
import io.regatta.training.model.DenseParameters;
import io.regatta.training.model.RowSource;
import io.regatta.training.replica.Exchange;
import io.regatta.training.replica.Gradients;
import io.regatta.training.replica.StepTimes;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * A replica's parameters in its engine, and the exchange that updates them. After the trainer, and perhaps its model,
 * has been closed, nothing is written any more. The exchange is then still used, and the values that are not trained
 * are kept here. Belongs to the model thread.
 */
final class ReplicaValues implements AutoCloseable {

  private final DenseParameters dense;
  private final FrozenValues frozen;
  private final Exchange exchange;
  private final StepTimes times;
  /** True if heter workers have dense values and their gradients. */
  private final boolean elsewhere;
  /** True if the values that heter workers have may be newer than those in the engine. */
  private boolean old;
  private boolean closed;

  /**
   * Creates the values of a replica.
   *
   * @param here returns true if a dense variable of that name is this trainer's, not heter workers'
   */
  ReplicaValues(DenseParameters dense, FrozenValues frozen, Exchange exchange, StepTimes times,
      Predicate<String> here) {
    this.dense = dense;
    this.frozen = frozen;
    this.exchange = exchange;
    this.times = times;
    dense.trains(here);
    elsewhere = dense.trained() < dense.variables().size();
    dense.lends(exchange.underWay() + 1, exchange.floatsBehind(), exchange::memory);
  }

  /** Takes over the values with which all begin. */
  void start() {
    dense.write(exchange.start());
    old = elsewhere;
  }

  Exchange exchange() {
    return exchange;
  }

  FrozenValues frozen() {
    return frozen;
  }

  /** Notes that a forward pass of training begins. */
  void trained() {
    dense.trainingBegins();
  }

  /** Notes that an evaluation begins. */
  void evaluated() {
    if (old) {
      old = false;
      dense.writeOthers(exchange.current());
    }
    dense.evaluated();
  }

  /** Returns values of rows; see {@link RowSource#rows}. */
  float[] rows(String table, int dim, long[] ids, boolean training) {
    if (!training) {
      return exchange.evaluationRows(table, dim, ids);
    }
    long begin = times.clock().nanos();
    float[] rows = exchange.rows(table, dim, ids);
    times.span("rows", begin, Map.of("table", table, "rows", ids.length));
    return rows;
  }

  /**
   * Returns the gradients of the last backward pass, which the exchange gets one by one; valid until they have been
   * exchanged. Returns null if heter workers have all of them.
   */
  DenseMemory gradients(double weight) {
    return dense.trained() == 0 && elsewhere ? null : dense.readGradients(times, exchange.reader(weight));
  }

  /** Returns zeros instead of gradients, with weight 0; null if heter workers have all gradients. */
  DenseMemory noGradients() {
    return dense.trained() == 0 && elsewhere ? null : dense.noGradients(times, exchange.reader(0));
  }

  /** Exchanges gradients for the next step's values. */
  void step(Gradients gradients, List<SparseIds> next) {
    DenseMemory values = exchange.step(gradients, next);
    old = elsewhere;
    long writing = times.clock().nanos();
    dense.writeTrained(values);
    times.span("values in", writing, Map.of("bytes", 4L * dense.numel()));
  }

  /** Continues, after replicas have met outside of steps, with the values of the step that they have agreed on. */
  void resumed() {
    DenseMemory values = closed ? null : exchange.resumed();
    if (values != null) {
      old = elsewhere;
      dense.write(values);
    }
  }

  /** Takes over the servers' newest values. */
  void newest() {
    DenseMemory values = exchange.newest();
    old = elsewhere;
    if (!closed) {
      dense.write(values);
    }
  }

  /**
   * Averages the parameters that are not trained over the ranks, if ranks have copies of their own; all ranks call it.
   */
  void averageFrozen() {
    if (exchange.averages()) {
      frozen.average(exchange::average);
    }
  }

  /** Closes the trainer's values; called once. */
  @Override
  public void close() {
    closed = true;
    frozen.close(); // for a model that is saved after its program has closed it
    dense.close();
  }
}
