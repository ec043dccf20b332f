package io.regatta.protocol.stream;

import io.regatta.protocol.aggregation.GradientAggregatorGrpcService;
import io.regatta.protocol.collective.CollectiveGrpcService;
import io.regatta.protocol.heterworker.HeterWorkerGrpcService;
import io.regatta.protocol.parameterserver.ParameterShardGrpcService;
import io.regatta.protocol.trainer.TrainerGrpcService;
import io.vertx.grpc.common.ServiceName;

/** The HTTP/2 paths of the tensor streams: gRPC's {@code /package.Service/Method}. */
public final class StreamPaths {

  /** To a shard, on its own port. */
  public static final String PARAMETER_SHARD = exchange(ParameterShardGrpcService.SERVICE_NAME);
  /** To a host's aggregator. */
  public static final String GRADIENT_AGGREGATOR = exchange(GradientAggregatorGrpcService.SERVICE_NAME);
  /** To another trainer, for the time of an exchange of examples. */
  public static final String TRAINER = exchange(TrainerGrpcService.SERVICE_NAME);
  /** Between two ranks of a group, for collective calls. */
  public static final String COLLECTIVE = exchange(CollectiveGrpcService.SERVICE_NAME);

  /** To a heter worker, for batches and their results. */
  public static final String HETER_COMPUTE = path(HeterWorkerGrpcService.SERVICE_NAME, "Compute");
  /** To a shard, through a heter worker. */
  public static final String HETER_EXCHANGE = exchange(HeterWorkerGrpcService.SERVICE_NAME);

  private StreamPaths() {}

  /** Returns the path of a service's streams of tensors, its method {@code Exchange}. */
  public static String exchange(ServiceName service) {
    return path(service, "Exchange");
  }

  /** Returns the path of a method. */
  public static String path(ServiceName service, String method) {
    return "/" + service.fullyQualifiedName() + "/" + method;
  }
}
