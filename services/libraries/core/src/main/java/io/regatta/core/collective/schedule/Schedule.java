package io.regatta.core.collective.schedule;

import java.util.ArrayList;
import java.util.List;

/**
 * The schedule of one rank for one collective call: its {@link Step}s, in order. Immutable once made; made by one
 * thread. Messages between two ranks keep their order: the n-th that one sends to the other is the n-th that the other
 * takes from it. Steps with different peers may be done in any order that {@link Step#after} allows.
 */
public final class Schedule {
  private final List<Step> steps = new ArrayList<>();

  Schedule() {}

  /** Returns the steps, in the order of their indices. */
  public List<Step> steps() {
    return steps;
  }

  int send(int peer, int from, int count, int after) {
    return add(new Step(Step.Kind.SEND, peer, from, count, after, false));
  }

  int sendCopied(int peer, int from, int count, int after) {
    return add(new Step(Step.Kind.SEND_COPIED, peer, from, count, after, false));
  }

  int copy(int peer, int from, int count, int after) {
    return add(new Step(Step.Kind.COPY, peer, from, count, after, false));
  }

  int reduce(int peer, int from, int count, int after, boolean completes) {
    return add(new Step(Step.Kind.REDUCE, peer, from, count, after, completes));
  }

  private int add(Step step) {
    steps.add(step);
    return steps.size() - 1;
  }
}
