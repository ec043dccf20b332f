package io.regatta.collective;

import io.regatta.core.collective.Operation;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.schedule.Schedule;
import io.regatta.core.collective.schedule.Step;
import io.regatta.protocol.tensor.CollectiveCall;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** One call under way at this rank. Owned by the rank's loop. */
final class CollectiveRun {
  final CollectiveCall call;
  final Tensor tensor;
  final ReduceOp op;
  private final Mesh mesh;
  private final Operation operation;
  final long sinceMillis;
  final List<Link> links = new ArrayList<>();
  final Promise<Void> promise;
  private final List<Step> steps;
  private final BitSet done;
  private int left;

  CollectiveRun(Mesh mesh, CollectiveCall call, Schedule schedule, Tensor tensor, Operation operation, ReduceOp op) {
    this.mesh = mesh;
    this.call = call;
    this.tensor = tensor;
    this.operation = operation;
    this.op = op;
    promise = Promise.promise();
    sinceMillis = mesh.loop().clock().epochMillis();
    steps = schedule.steps();
    done = new BitSet(steps.size());
    left = steps.size();
  }

  /** Returns the bytes of the vector, as it travels. */
  long bytes() {
    return (long) tensor.size() * tensor.wire().bytes();
  }

  int steps() {
    return steps.size();
  }

  Step step(int index) {
    return steps.get(index);
  }

  /** Returns true if the steps that this one waits for have been done. */
  boolean isReady(int index) {
    int after = steps.get(index).after();
    return after == Step.NOTHING || done.get(after);
  }

  /** Notes that a step's elements are about to be sent, or reduced into. */
  void begin(int index) {
    Step step = steps.get(index);
    if (step.isFirst()) {
      tensor.begin(operation, op, mesh.ranks().worldSize(), step.from(), step.count(), mesh.workspace());
    }
  }

  void done(int index) {
    Step step = steps.get(index);
    if (step.completes()) {
      tensor.complete(op, mesh.ranks().worldSize(), step.from(), step.count(), mesh.workspace());
    }
    done.set(index);
    left--;
  }

  /** Returns true if nothing is left to do. */
  boolean isOver() {
    return left == 0;
  }
}
