package io.regatta.core.shard;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;

/** The tasks that a shard has left to later turns of its loop, in order; a test says when they run. */
final class LaterTurns extends ArrayDeque<Runnable> implements Executor {

  @Override
  public void execute(Runnable turn) {
    add(turn);
  }

  /** Runs turns until there are none; returns how many. */
  int runAll() {
    int n = 0;
    for (Runnable turn = poll(); turn != null; turn = poll()) {
      turn.run();
      n++;
    }
    return n;
  }
}
