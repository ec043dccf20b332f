package io.regatta.protocol.security;

import java.util.List;
import java.util.Set;

/** Set of calls that the holder of a token may make. */
enum TokenRole {
  /** Everything: the processes of a job. */
  MEMBER(Set.of()),
  /** Views of a service: metrics, waits, members and status; they change nothing. */
  MONITOR(Set.of("/metrics", "/why", "/regatta.Rendezvous/Groups", "/regatta.Rendezvous/Watch",
      "/regatta.ParameterServer/ShardMap", "/regatta.ParameterServer/Status", "/grpc.health.v1.Health/List",
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")),
  /** Predictions of a served model. */
  PREDICT(Set.of("/predict", "/model", "/openapi.json", "/v2", "/regatta.Prediction/Predict"), "/v2/",
      "/inference.GRPCInferenceService/");

  private final Set<String> paths;
  private final List<String> beginnings;

  /** @param beginnings of further paths */
  TokenRole(Set<String> paths, String... beginnings) {
    this.paths = paths;
    this.beginnings = List.of(beginnings);
  }

  /** Returns true if a call of this path, without its query, is allowed. */
  boolean allows(String path) {
    return this == MEMBER || paths.contains(path) || beginnings.stream().anyMatch(path::startsWith);
  }
}
