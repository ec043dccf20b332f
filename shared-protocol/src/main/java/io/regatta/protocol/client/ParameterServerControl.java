package io.regatta.protocol.client;

import io.regatta.protocol.network.Calls;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.parameterserver.CheckDirectoryRequest;
import io.regatta.protocol.parameterserver.DigestRequest;
import io.regatta.protocol.parameterserver.HoldRequest;
import io.regatta.protocol.parameterserver.ParameterServerGrpcClient;
import io.regatta.protocol.parameterserver.ParameterShardGrpcClient;
import io.regatta.protocol.parameterserver.PushMark;
import io.regatta.protocol.parameterserver.RestoreRequest;
import io.regatta.protocol.parameterserver.SaveRequest;
import io.regatta.protocol.parameterserver.SavedReply;
import io.regatta.protocol.parameterserver.SavedRequest;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.regatta.protocol.parameterserver.ShardMapRequest;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.parameterserver.StatusRequest;
import io.vertx.core.Future;
import java.util.List;

/**
 * Control calls to one port of a parameter server: {@link #shardMap}, {@link #status} and {@link #checkDirectory} on
 * its control port, {@link #digest}, {@link #save}, {@link #saved} and {@link #restore} on a
 * shard's. Has a connection of its own, so that it does not queue behind tensors.
 */
public final class ParameterServerControl {
  private final Calls calls;

  /** Creates a client that connects at its first call. */
  public ParameterServerControl(Network network, String host, int port) {
    calls = network.calls(host, port, "parameter server at " + host + ":" + port);
  }

  /** Returns the server's shards. */
  public Future<ShardMapReply> shardMap() {
    return shardMap(ShardMapRequest.getDefaultInstance());
  }

  /** Returns the server's shards, and announces the servers that the caller knows. */
  public Future<ShardMapReply> shardMap(ShardMapRequest known) {
    return calls.call(ParameterServerGrpcClient.ShardMap, known);
  }

  /** Returns the running jobs; {@code job} empty for all. */
  public Future<StatusReply> status(String job) {
    return calls.call(ParameterServerGrpcClient.Status, StatusRequest.newBuilder().setJob(job).build());
  }

  /** Completes if the server's shards take snapshots in a directory; else it fails, with what to do. */
  public Future<Void> checkDirectory(String directory, boolean write) {
    return calls.call(ParameterServerGrpcClient.CheckDirectory, CheckDirectoryRequest.newBuilder()
        .setDirectory(directory).setWrite(write).build()).mapEmpty();
  }

  /** Returns a shard's part of the job's parameter hash. */
  public Future<Long> digest(String job) {
    return calls.call(ParameterShardGrpcClient.Digest, DigestRequest.newBuilder().setJob(job).build())
        .map(r -> r.getDigest());
  }

  /** Makes new pushes of a job wait at a shard; completes with the last one of each trainer when none is under way. */
  public Future<List<PushMark>> hold(String job, String directory) {
    return calls.call(ParameterShardGrpcClient.Hold, HoldRequest.newBuilder().setJob(job)
        .setDirectory(directory).build()).map(r -> r.getLastList());
  }

  /** Makes a shard take its part of a snapshot; completes when its moment has been taken. */
  public Future<Void> save(SaveRequest request) {
    return calls.call(ParameterShardGrpcClient.Save, request).mapEmpty();
  }

  /** Returns the file that a shard has written for the job's last snapshot; completes when it is on disk. */
  public Future<SavedReply> saved(String job) {
    return calls.call(ParameterShardGrpcClient.Saved, SavedRequest.newBuilder().setJob(job).build());
  }

  /**
   * Makes a shard read the part of a snapshot that it owns.
   *
   * @return whether its dense vector was in it
   */
  public Future<Boolean> restore(RestoreRequest request) {
    return calls.call(ParameterShardGrpcClient.Restore, request).map(r -> r.getDense());
  }

  /** Closes the connection. */
  public Future<Void> close() {
    return calls.close();
  }
}
