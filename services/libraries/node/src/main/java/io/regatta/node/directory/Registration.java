package io.regatta.node.directory;

import io.vertx.core.Future;
import io.vertx.core.Promise;

/** An entry in a {@link Directory} that its owner keeps alive. */
public interface Registration {

  /**
   * Completes, with a text for the log, if another instance has taken this one's sole place; else never. On the thread
   * that renews the entry.
   */
  default Future<String> lost() {
    return Promise.<String>promise().future();
  }

  /** Stops the renewal and removes the entry at once. A second call does nothing. */
  Future<Void> close();
}
