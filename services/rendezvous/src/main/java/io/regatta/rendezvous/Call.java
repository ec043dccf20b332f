package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.error.ErrorMapping;
import io.vertx.grpc.common.CodecException;
import io.vertx.grpc.common.GrpcMessage;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.GrpcServerRequest;
import io.vertx.grpc.server.StatusException;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of one client, from its request message to its one answer; used on the verticle's event loop. Every outcome
 * is answered: a refusal with its status, a request that is none or garbage with {@code InvalidInput}, a fault of ours
 * with INTERNAL and a line in the log. A client that goes first withdraws what waits for it.
 *
 * @param <Q> request message
 * @param <A> answer message
 */
final class Call<Q, A> {
  private static final Logger LOG = LoggerFactory.getLogger(Call.class);

  private final ServiceMethod<Q, A> method;
  private final GrpcServerRequest<Q, A> request;
  private boolean begun;
  private boolean over;
  private Runnable gone = () -> { };

  private Call(ServiceMethod<Q, A> method, GrpcServerRequest<Q, A> request) {
    this.method = method;
    this.request = request;
  }

  /**
   * Serves a method.
   *
   * @param serve begins the call and returns what to run when the client has gone
   */
  static <Q, A> void bind(GrpcServer server, ServiceMethod<Q, A> method, BiFunction<Q, Call<Q, A>, Runnable> serve) {
    server.callHandler(method, request -> {
      Call<Q, A> call = new Call<>(method, request);
      request.messageHandler(message -> call.begin(message, serve));
      request.endHandler(v -> call.ended());
      request.errorHandler(error -> call.clientGone());
      request.exceptionHandler(e -> call.clientGone());
      request.response().exceptionHandler(e -> call.clientGone());
    });
  }

  /** As {@link #bind}, for calls with one answer, given by a callback. */
  static <Q, A> void answer(GrpcServer server, ServiceMethod<Q, A> method,
      BiFunction<Q, BiConsumer<A, RegattaException>, Runnable> serve) {
    bind(server, method, (message, call) -> serve.apply(message, (reply, error) -> {
      if (error != null) {
        call.fail(error);
      } else {
        call.end(reply);
      }
    }));
  }

  private void begin(GrpcMessage message, BiFunction<Q, Call<Q, A>, Runnable> serve) {
    if (begun) {
      return; // a unary call has one message
    }
    begun = true;
    try {
      if (!message.encoding().equals("identity")) {
        throw new InvalidInput(method.fullMethodName() + " takes no " + message.encoding()
            + " messages; send them plain");
      }
      Runnable withdraw = serve.apply(method.decoder().decode(message), this);
      if (!over) {
        gone = withdraw;
      }
    } catch (CodecException e) {
      fail(new InvalidInput("the request is no message of " + method.fullMethodName() + ": " + e.getMessage(), e));
    } catch (RegattaException e) {
      fail(e);
    } catch (RuntimeException | Error e) {
      LOG.error("{} failed", method.fullMethodName(), e);
      finish(new StatusException(GrpcStatus.INTERNAL, method.fullMethodName() + " failed by a fault of the rendezvous: "
          + e + "; see its log"));
    }
  }

  private void ended() {
    if (!begun) {
      begun = true;
      fail(new InvalidInput(method.fullMethodName() + " came without a message"));
    }
  }

  private void clientGone() {
    if (!over) {
      over = true;
      gone.run();
    }
  }

  /** Whether there is nobody to answer any more. */
  boolean isOver() {
    return over;
  }

  GrpcServerRequest<Q, A> request() {
    return request;
  }

  /** One answer of several. */
  void write(A reply) {
    if (!over) {
      request.response().write(reply).onFailure(this::unanswered);
    }
  }

  /** The last answer. */
  void end(A reply) {
    if (!over) {
      over = true;
      request.response().end(reply).onFailure(this::unanswered);
    }
  }

  void end() {
    if (!over) {
      over = true;
      request.response().end().onFailure(this::unanswered);
    }
  }

  void fail(RegattaException error) {
    finish(new StatusException(ErrorMapping.status(error), error.getMessage()));
  }

  private void finish(StatusException failure) {
    if (!over) {
      over = true;
      request.response().fail(failure);
    }
  }

  private void unanswered(Throwable e) {
    LOG.debug("{}: the client has gone before its answer: {}", method.fullMethodName(), e.toString());
  }
}
