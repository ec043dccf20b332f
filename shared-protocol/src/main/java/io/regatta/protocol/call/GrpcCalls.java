package io.regatta.protocol.call;

import com.google.protobuf.Descriptors.ServiceDescriptor;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.error.ErrorMapping;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * The gRPC calls of one port except tensor streams: it finds the method of a call, and has an {@link HttpServerCall}
 * read it. Has gRPC's health and reflection services from the start. Vert.x's own gRPC server resets calls of garbage,
 * and never answers those that end in the middle of a message. Used on the event loop of its port.
 */
public final class GrpcCalls implements Handler<HttpServerRequest> {
  static final String CONTENT_TYPE = "application/grpc";
  private static final String ENCODING = "grpc-encoding";
  private static final String IDENTITY = "identity";

  private final Map<String, Handler<HttpServerRequest>> methods = new HashMap<>();
  /** The services of this port, and whether each is ready. */
  private final Map<ServiceDescriptor, BooleanSupplier> services = new LinkedHashMap<>();

  public GrpcCalls(Vertx vertx) {
    HealthService.bind(this, vertx);
    Reflection.bind(this);
  }

  /** Adds a service whose calls are tensor streams, or are added to the returned object. */
  public Service service(ServiceDescriptor descriptor, BooleanSupplier ready) {
    return service(descriptor, ready, RequestLimits.DEFAULTS);
  }

  /**
   * Adds a service with other limits of requests.
   *
   * @param ready the answer of the health service for it
   */
  public Service service(ServiceDescriptor descriptor, BooleanSupplier ready, RequestLimits limits) {
    services.put(descriptor, ready);
    return new Service(limits);
  }

  Map<ServiceDescriptor, BooleanSupplier> services() {
    return services;
  }

  /** Methods of one service. */
  public final class Service implements CallRegistry {
    private final RequestLimits limits;

    private Service(RequestLimits limits) {
      this.limits = limits;
    }

    @Override
    public <Q, A> Service call(ServiceMethod<Q, A> method, ServerCall.Serve<Q, A> serve) {
      return add(method, false, serve);
    }

    /** Adds a method with an answer to each of many requests. */
    <Q, A> Service each(ServiceMethod<Q, A> method, Function<Q, A> serve) {
      return add(method, true, (request, call) -> {
        call.write(serve.apply(request));
        return () -> { };
      });
    }

    private <Q, A> Service add(ServiceMethod<Q, A> method, boolean streaming, ServerCall.Serve<Q, A> serve) {
      PeerLog faults = new PeerLog(HttpServerCall.LOG);
      methods.put("/" + method.fullMethodName(),
          request -> new HttpServerCall<>(method, request, limits, faults, streaming, serve).start());
      return this;
    }
  }

  /** Returns true if a path is that of a method here. */
  public boolean hasMethod(String path) {
    return methods.containsKey(path);
  }

  /** Returns true for a request that a gRPC service can read: HTTP/2, POST, and messages in protobuf. */
  public static boolean isGrpc(HttpServerRequest request) {
    return request.version() == HttpVersion.HTTP_2 && request.method() == HttpMethod.POST
        && isProtobuf(request.getHeader("content-type"));
  }

  private static boolean isProtobuf(String type) {
    return type != null && type.matches("application/grpc(\\+proto)?( *;.*)?");
  }

  /**
   * Returns true for a request whose messages may be compressed. No port decompresses: a few kilobytes could become
   * gigabytes, and limits of messages would count the wrong bytes.
   */
  public static boolean isCompressed(HttpServerRequest request) {
    String encoding = request.getHeader(ENCODING);
    return encoding != null && !encoding.equalsIgnoreCase(IDENTITY);
  }

  @Override
  public void handle(HttpServerRequest request) {
    String type = request.getHeader("content-type");
    Handler<HttpServerRequest> method = methods.get(request.path());
    if (request.version() != HttpVersion.HTTP_2) {
      refuse(request, 505, GrpcStatus.INVALID_ARGUMENT, "gRPC calls need HTTP/2");
    } else if (request.method() != HttpMethod.POST) {
      refuse(request, 405, GrpcStatus.INVALID_ARGUMENT, "gRPC calls are HTTP POSTs, and this is a " + request.method());
    } else if (!isProtobuf(type)) {
      refuse(request, type != null && type.startsWith(CONTENT_TYPE) ? 200 : 415, GrpcStatus.INVALID_ARGUMENT, "content-type "
          + (type == null ? "is missing" : type + " is not served here") + "; send messages in protobuf, as " + CONTENT_TYPE);
    } else if (isCompressed(request)) {
      request.response().putHeader("grpc-accept-encoding", IDENTITY);
      refuse(request, 200, GrpcStatus.UNIMPLEMENTED, "the messages of this call are in grpc-encoding "
          + request.getHeader(ENCODING)
          + ", and no port decompresses messages; send them without compression");
    } else if (method == null) {
      refuse(request, 200, GrpcStatus.UNIMPLEMENTED, "there is no method " + request.path() + " at this port; its services are "
          + String.join(", ", services.keySet().stream().map(ServiceDescriptor::getFullName).toList()));
    } else {
      method.handle(request);
    }
  }

  /** Refuses a request, in a form that clients of gRPC and of HTTP can read. */
  private static void refuse(HttpServerRequest request, int http, GrpcStatus status, String why) {
    request.response().setStatusCode(http).putHeader("grpc-status", Integer.toString(status.code))
        .putHeader("grpc-message", ErrorMapping.encode(why));
    if (http == 200) {
      request.response().putHeader("content-type", CONTENT_TYPE).end();
    } else {
      request.response().putHeader("content-type", "text/plain; charset=utf-8").end(why + "\n");
    }
  }
}
