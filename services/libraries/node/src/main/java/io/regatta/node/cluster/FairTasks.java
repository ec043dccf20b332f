package io.regatta.node.cluster;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Tasks in a fair order: one of each origin in turn. However many one origin adds, a task of another one waits for one
 * of each at most. Thread-safe.
 */
final class FairTasks {
  /** Tasks by their origin; the origin whose turn it is comes first. */
  private final Map<Object, Deque<Runnable>> waiting = new LinkedHashMap<>();

  synchronized void add(Object origin, Runnable task) {
    waiting.computeIfAbsent(origin, o -> new ArrayDeque<>()).add(task);
  }

  /** Runs the task whose turn it is. To be called once for each that was added. */
  void runNext() {
    next().run();
  }

  private synchronized Runnable next() {
    Iterator<Map.Entry<Object, Deque<Runnable>>> first = waiting.entrySet().iterator();
    Map.Entry<Object, Deque<Runnable>> turn = first.next();
    first.remove();
    Runnable task = turn.getValue().remove();
    if (!turn.getValue().isEmpty()) {
      waiting.put(turn.getKey(), turn.getValue());
    }
    return task;
  }
}
