package io.regatta.protocol.testing;

import io.regatta.core.error.RegattaException;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.call.CallRegistry;
import io.regatta.protocol.call.ServerCall;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.stream.TensorStream;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.grpc.common.GrpcMessage;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;
import io.vertx.grpc.common.WireFormat;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;

/** A port of a {@link SimulatedNetwork}. Its calls and streams are served on the loop that owns it. */
public final class SimulatedPort implements CallRegistry {
  private final Loop loop;
  private final Map<String, Method<?, ?>> methods = new HashMap<>();
  private final Map<String, Handler<TensorStream>> streams = new HashMap<>();

  /** A method that is served here. */
  private record Method<Q, A>(ServiceMethod<Q, A> method, ServerCall.Serve<Q, A> serve) {

    Call<Q, A> begin(Buffer request, Executor back, Handler<Buffer> each, Handler<RegattaException> end) {
      Call<Q, A> call = new Call<>(method, back, each, end);
      try {
        Runnable withdraw = serve.begin(method.decoder().decode(GrpcMessage.message("identity", request)), call);
        call.withdraw = call.over ? () -> { } : withdraw;
      } catch (RuntimeException | Error e) {
        call.fail(e);
      }
      return call;
    }
  }

  SimulatedPort(Loop loop) {
    this.loop = loop;
  }

  Loop loop() {
    return loop;
  }

  @Override
  public <Q, A> CallRegistry call(ServiceMethod<Q, A> method, ServerCall.Serve<Q, A> serve) {
    methods.put(method.fullMethodName(), new Method<>(method, serve));
    return this;
  }

  /** Adds a path of tensor streams. */
  public SimulatedPort streams(String path, Handler<TensorStream> taker) {
    streams.put(path, taker);
    return this;
  }

  void accept(String path, TensorStream stream) {
    streams.get(path).handle(stream);
  }

  /** Makes a call from another loop; returns what cancels it. */
  <Q, A> Runnable call(ServiceMethod<A, Q> method, Q request, Executor there, Executor back, Handler<A> each, Promise<A> end) {
    Buffer bytes = method.encoder().encode(request, WireFormat.PROTOBUF).payload();
    Call<?, ?>[] begun = new Call<?, ?>[1];
    there.execute(() -> begun[0] = methods.get(method.fullMethodName()).begin(bytes, back,
        answer -> each.handle(method.decoder().decode(GrpcMessage.message("identity", answer))),
        failure -> {
          if (failure == null) {
            end.tryComplete();
          } else {
            end.tryFail(failure);
          }
        }));
    return () -> there.execute(() -> begun[0].gone());
  }

  /** One call at its server. */
  private static final class Call<Q, A> implements ServerCall<Q, A> {
    private final ServiceMethod<Q, A> method;
    private final Executor back;
    private final Handler<Buffer> each;
    private final Handler<RegattaException> end;
    private Runnable withdraw = () -> { };
    private boolean over;

    private Call(ServiceMethod<Q, A> method, Executor back, Handler<Buffer> each, Handler<RegattaException> end) {
      this.method = method;
      this.back = back;
      this.each = each;
      this.end = end;
    }

    private void gone() {
      if (!over) {
        over = true;
        withdraw.run();
      }
    }

    @Override
    public String origin() {
      return "127.0.0.1";
    }

    @Override
    public Runnable keepConnection() {
      return () -> { };
    }

    @Override
    public boolean isOver() {
      return over;
    }

    @Override
    public void write(A reply) {
      if (!over) {
        send(framed(reply));
      }
    }

    private void send(Buffer frame) {
      back.execute(() -> each.handle(frame));
    }

    @Override
    public boolean writeQueueFull() {
      return false;
    }

    @Override
    public void drainHandler(Handler<Void> handler) {
      // answers never wait here
    }

    @Override
    public Buffer framed(A reply) {
      return method.encoder().encode(reply, WireFormat.PROTOBUF).payload();
    }

    @Override
    public Future<Void> endWith(Buffer frame) {
      if (!over) {
        send(frame);
        end();
      }
      return Future.succeededFuture();
    }

    @Override
    public void end() {
      if (!over) {
        over = true;
        back.execute(() -> end.handle(null));
      }
    }

    @Override
    public void fail(Throwable error) {
      RegattaException failure = ErrorMapping.regatta(error);
      fail(ErrorMapping.status(failure), failure.getMessage());
    }

    @Override
    public void fail(GrpcStatus status, String text) {
      if (!over) {
        over = true;
        back.execute(() -> end.handle(ErrorMapping.exception(status, text)));
      }
    }
  }
}
