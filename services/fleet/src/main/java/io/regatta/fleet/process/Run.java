package io.regatta.fleet.process;

import io.regatta.training.result.RunResult;
import io.vertx.core.Future;

/** A program that runs on this rank, on model threads of its own. Any thread. */
public interface Run {

  /** Returns the result of the run at its end, or the failure that ended it. */
  Future<RunResult> result();

  /** Stops it if it still runs, and frees everything. A later call returns the same outcome. */
  Future<Void> close();
}
