package io.regatta.collective;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Schedule;
import io.regatta.core.collective.Step;
import io.regatta.core.collective.Tensor;
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
  final long sinceMillis = System.currentTimeMillis();
  final List<Link> links = new ArrayList<>();
  final Promise<Void> promise = Promise.promise();
  private final List<Step> steps;
  private final BitSet done;
  private int left;

  CollectiveRun(CollectiveCall call, Schedule schedule, Tensor tensor, ReduceOp op) {
    this.call = call;
    this.tensor = tensor;
    this.op = op;
    steps = schedule.steps();
    done = new BitSet(steps.size());
    left = steps.size();
  }

  int steps() {
    return steps.size();
  }

  Step step(int index) {
    return steps.get(index);
  }

  /** Whether what this step waits for has been done. */
  boolean isReady(int index) {
    int after = steps.get(index).after();
    return after == Step.NOTHING || done.get(after);
  }

  void done(int index) {
    done.set(index);
    left--;
  }

  /** Whether nothing is left to do. */
  boolean isOver() {
    return left == 0;
  }
}
