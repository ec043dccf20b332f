package io.regatta.node.address;

import io.regatta.protocol.call.GrpcCalls;
import io.vertx.core.Context;
import io.vertx.core.Future;

/**
 * A small service without a port: another service opens one, and serves both there, on its own event loop. So a job whose
 * configuration knows one address of each server alone has its rendezvous at the first one's. All calls come on the
 * host's event loop, which owns the guest's state from {@link #begin} to {@link #end}.
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
   * The port is open.
   *
   * @return completes when the guest can be found
   */
  Future<Void> listens(int port);

  /** Tells those who wait here; the port closes behind it. Also called after a {@link #begin} without {@link #listens}. */
  Future<Void> end();

  /** Completes when nobody uses the guest any more, for a port that ends with its job. */
  default Future<Void> idle() {
    return Future.succeededFuture();
  }
}
