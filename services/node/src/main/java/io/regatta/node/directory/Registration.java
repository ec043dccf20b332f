package io.regatta.node.directory;

import io.vertx.core.Future;

/** An entry in a {@link Directory} that its owner keeps alive. */
public interface Registration {

  /** Stops the renewal and removes the entry at once. A second call does nothing. */
  Future<Void> close();
}
