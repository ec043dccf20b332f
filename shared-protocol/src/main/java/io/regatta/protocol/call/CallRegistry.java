package io.regatta.protocol.call;

import io.regatta.core.error.RegattaException;
import io.vertx.core.Future;
import io.vertx.grpc.common.ServiceMethod;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;

/** The methods of one service at one port, added before it serves. Used on the loop of the port. */
public interface CallRegistry {

  /** Adds a method with one request, and any number of answers. */
  <Q, A> CallRegistry call(ServiceMethod<Q, A> method, ServerCall.Serve<Q, A> serve);

  /** Adds a method that is answered by a future. */
  default <Q, A> CallRegistry unary(ServiceMethod<Q, A> method, Function<Q, Future<A>> serve) {
    return call(method, (request, call) -> {
      call.answer(serve.apply(request));
      return () -> { };
    });
  }

  /** Adds a method that is answered at once. */
  default <Q, A> CallRegistry atOnce(ServiceMethod<Q, A> method, Function<Q, A> serve) {
    return call(method, (request, call) -> {
      call.end(serve.apply(request));
      return () -> { };
    });
  }

  /**
   * Adds a method that is answered by a callback.
   *
   * @param serve returns what to run if the client cancels the call or disconnects
   */
  default <Q, A> CallRegistry later(ServiceMethod<Q, A> method, BiFunction<Q, BiConsumer<A, RegattaException>, Runnable> serve) {
    return call(method, (request, call) -> serve.apply(request, (reply, error) -> {
      if (error != null) {
        call.fail(error);
      } else {
        call.end(reply);
      }
    }));
  }
}
