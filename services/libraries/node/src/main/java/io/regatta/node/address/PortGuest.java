package io.regatta.node.address;

import io.regatta.protocol.call.GrpcCalls;
import io.vertx.core.Context;
import io.vertx.core.Future;

/**
 * A small service that shares the port of another service, its host. Both are served there, on the host's event loop.
 * With it, a job whose configuration holds only one address per server runs its rendezvous at the first server's. All
 * calls come on the host's event loop, which owns the guest's state from {@link #begin} to {@link #end}.
 */
public interface PortGuest {

  /**
   * Makes the guest ready, before the port opens.
   *
   * @param context the host's
   * @param calls of the port, to which the guest adds its own
   */
  void begin(Context context, GrpcCalls calls);

  /**
   * Notifies the guest that the port is open.
   *
   * @return completes when the guest can be found
   */
  Future<Void> listens(int port);

  /**
   * Ends the guest: callers that wait are notified, and the port closes afterwards. Also called after a {@link #begin}
   * without {@link #listens}.
   */
  Future<Void> end();

  /** Completes when nobody uses the guest any more, for a port that ends with its job. */
  default Future<Void> idle() {
    return Future.succeededFuture();
  }
}
