package io.regatta.node;

import io.vertx.core.Future;

/**
 * A verticle with a long start that can be cancelled. Vert.x stops only verticles that have started; a verticle of this
 * type is asked by its {@link Node} to give its start up when the node is closed.
 */
public interface CancellableStart {

  /**
   * Cancels the start: releases what it has acquired so far and lets it fail afterwards. Called on the verticle's
   * context. Does not block; the node waits for the returned future.
   */
  Future<?> cancelStart();
}
