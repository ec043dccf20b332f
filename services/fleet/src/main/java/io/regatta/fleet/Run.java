package io.regatta.fleet;

import io.regatta.trainer.result.RunResult;
import io.vertx.core.Future;

/** A program under way on this rank, on model threads of its own. Any thread. */
interface Run {

  /** What the run reports at its end, or what ended it. */
  Future<RunResult> result();

  /** Stops it if it still runs, and frees everything. A later call returns the same outcome. */
  Future<Void> close();
}
