package io.regatta.protocol.vertx;

import io.vertx.core.Closeable;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.spi.cluster.ClusterManager;

/** The end and the cluster manager of a {@link Vertx}, which its public API does not show. Stateless, any thread. */
public final class VertxInternals {

  private VertxInternals() {}

  /**
   * Adds a hook that runs when a Vertx is closed, before its verticles are undeployed. The close waits for the hook's promise.
   *
   * @return removes the hook again
   */
  public static Runnable onClose(Vertx vertx, Closeable hook) {
    VertxInternal internal = (VertxInternal) vertx;
    internal.addCloseHook(hook);
    return () -> internal.removeCloseHook(hook);
  }

  /** Returns the cluster manager of a Vertx; null: it is not clustered. */
  public static ClusterManager clusterManager(Vertx vertx) {
    return ((VertxInternal) vertx).clusterManager();
  }
}
