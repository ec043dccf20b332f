package io.regatta.node;

import io.vertx.core.Future;

/**
 * A verticle whose start takes long, and which has something to leave meanwhile. Vert.x stops only verticles that have started: this one is
 * asked by its {@link Node} when that is closed.
 */
public interface CancellableStart {

  /** Leaves what the start has come to, which fails behind it. Called on the verticle's context. Does not block; the node waits for it. */
  Future<?> cancelStart();
}
