package io.regatta.protocol.network;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.grpc.common.ServiceMethod;

/**
 * Control calls to one peer. May be used on any loop; answers come on the caller's. Failures are
 * {@link io.regatta.core.error.RegattaException}s with the peer's own text.
 */
public interface Calls {

  /** Makes a call with one request and one answer. An answer may take as long as the peer lives. */
  <Q, A> Future<A> call(ServiceMethod<A, Q> method, Q request);

  /** Makes a call with one request and many answers. */
  <Q, A> Watch watch(ServiceMethod<A, Q> method, Q request, Handler<A> each);

  /** Closes the connection; everything under way fails. */
  Future<Void> close();
}
