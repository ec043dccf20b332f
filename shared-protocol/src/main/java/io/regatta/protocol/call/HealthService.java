package io.regatta.protocol.call;

import com.google.protobuf.Descriptors.ServiceDescriptor;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.loop.Timer;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Vertx;
import io.vertx.grpc.common.GrpcMessageDecoder;
import io.vertx.grpc.common.GrpcMessageEncoder;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;
import io.vertx.grpc.common.ServiceName;
import io.vertx.grpc.health.v1.HealthCheckRequest;
import io.vertx.grpc.health.v1.HealthCheckResponse;
import io.vertx.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.vertx.grpc.health.v1.HealthListRequest;
import io.vertx.grpc.health.v1.HealthListResponse;
import io.vertx.grpc.health.v1.HealthProto;
import java.util.HashMap;
import java.util.Map;

/**
 * gRPC's health service: the readiness of each service of a port, and under the empty name that of all together. Used on
 * the event loop of its port.
 */
final class HealthService {
  private static final long WATCH_MILLIS = 500;
  /** Limit of watches in all: calls of Watch need no token, so they must not grow without end. */
  private static final int MAX_WATCHES = 256;
  /** Limit of watches from one address, so that it does not keep the others from watching. */
  private static final int MAX_OF_ADDRESS = 32;
  /** Size of a request, which holds the name of a service. */
  private static final int MESSAGE_BYTES = 8 << 10;
  /** Bytes of all requests that have not arrived completely: their senders need no token. */
  private static final int ARRIVING_BYTES = 1 << 20;
  /** Time within which a request has to arrive. */
  private static final long ARRIVAL_MILLIS = 20_000;
  private static final ServiceDescriptor DESCRIPTOR = HealthProto.getDescriptor().findServiceByName("Health");
  private static final ServiceName NAME = ServiceName.create("grpc.health.v1", "Health");
  private static final ServiceMethod<HealthCheckRequest, HealthCheckResponse> CHECK = ServiceMethod.server(NAME, "Check",
      GrpcMessageEncoder.encoder(), GrpcMessageDecoder.decoder(HealthCheckRequest.newBuilder()));
  private static final ServiceMethod<HealthListRequest, HealthListResponse> LIST = ServiceMethod.server(NAME, "List",
      GrpcMessageEncoder.encoder(), GrpcMessageDecoder.decoder(HealthListRequest.newBuilder()));
  private static final ServiceMethod<HealthCheckRequest, HealthCheckResponse> WATCH = ServiceMethod.server(NAME, "Watch",
      GrpcMessageEncoder.encoder(), GrpcMessageDecoder.decoder(HealthCheckRequest.newBuilder()));

  private final GrpcCalls calls;
  private final Vertx vertx;
  /** Open watches by the address that they come from. */
  private final Map<String, Integer> watches = new HashMap<>();

  private HealthService(GrpcCalls calls, Vertx vertx) {
    this.calls = calls;
    this.vertx = vertx;
  }

  static void bind(GrpcCalls calls, Vertx vertx) {
    HealthService health = new HealthService(calls, vertx);
    calls.service(DESCRIPTOR, () -> true,
            RequestLimits.ofBytes(MESSAGE_BYTES, new HeldRequests(vertx, ARRIVING_BYTES, ARRIVAL_MILLIS)))
        .call(CHECK, (request, call) -> {
          health.check(request.getService(), call);
          return () -> { };
        })
        .atOnce(LIST, request -> health.list())
        .call(WATCH, (request, call) -> health.watch(request.getService(), call));
  }

  private ServingStatus status(String name) {
    if (name.isEmpty()) {
      return serving(calls.services().values().stream().allMatch(ready -> ready.getAsBoolean()));
    }
    return calls.services().entrySet().stream().filter(service -> service.getKey().getFullName().equals(name)).findAny()
        .map(service -> serving(service.getValue().getAsBoolean())).orElse(ServingStatus.SERVICE_UNKNOWN);
  }

  private static ServingStatus serving(boolean ready) {
    return ready ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }

  private static HealthCheckResponse response(ServingStatus status) {
    return HealthCheckResponse.newBuilder().setStatus(status).build();
  }

  private void check(String name, ServerCall<HealthCheckRequest, HealthCheckResponse> call) {
    ServingStatus status = status(name);
    if (status == ServingStatus.SERVICE_UNKNOWN) {
      call.fail(GrpcStatus.NOT_FOUND, "there is no service " + name + " at this port");
    } else {
      call.end(response(status));
    }
  }

  private HealthListResponse list() {
    HealthListResponse.Builder all = HealthListResponse.newBuilder().putStatuses("", response(status("")));
    calls.services().forEach((service, ready) -> all.putStatuses(service.getFullName(), response(serving(ready.getAsBoolean()))));
    return all.build();
  }

  /** Sends the status now and after every change, until the client goes. */
  private Runnable watch(String name, ServerCall<HealthCheckRequest, HealthCheckResponse> call) {
    String origin = call.origin();
    int ofOrigin = watches.getOrDefault(origin, 0);
    if (ofOrigin == MAX_OF_ADDRESS) {
      throw new Overloaded("this port's health is watched " + ofOrigin + " times from " + origin
          + " already; ask with Check");
    }
    int all = watches.values().stream().mapToInt(Integer::intValue).sum();
    if (all == MAX_WATCHES) {
      throw new Overloaded("this port's health is watched by " + all + " clients already; ask with Check");
    }
    ServingStatus now = status(name);
    Runnable letGo = call.keepConnection(); // before the answer: it may refuse
    call.write(response(now));
    if (call.isOver()) {
      letGo.run();
      return () -> { };
    }
    Observer observer = new Observer(name, call, origin, now, letGo);
    watches.put(origin, ofOrigin + 1); // nothing after this can fail before the timer is there to be canceled
    observer.timer = VertxLoop.current(vertx).every(WATCH_MILLIS, observer::look);
    return observer::release;
  }

  /** A client that gets every change, until it goes. */
  private final class Observer {
    private final String name;
    private final ServerCall<HealthCheckRequest, HealthCheckResponse> call;
    private final String origin;
    private final Runnable letGo;
    private ServingStatus sent;
    private Timer timer = Timer.NONE;
    private boolean released;

    private Observer(String name, ServerCall<HealthCheckRequest, HealthCheckResponse> call, String origin,
        ServingStatus sent, Runnable letGo) {
      this.name = name;
      this.call = call;
      this.origin = origin;
      this.sent = sent;
      this.letGo = letGo;
    }

    private void look() {
      try {
        ServingStatus now = status(name);
        if (now != sent && !call.writeQueueFull()) {
          sent = now;
          call.write(response(now));
        }
      } catch (RuntimeException e) { // the call is over, so nobody else ends its timer
        release();
        call.fail(e);
      }
    }

    /** Ends the timer and releases the origin's place, once. */
    private void release() {
      if (!released) {
        released = true;
        timer.cancel();
        letGo.run();
        watches.computeIfPresent(origin, (from, open) -> open > 1 ? open - 1 : null);
      }
    }
  }
}
