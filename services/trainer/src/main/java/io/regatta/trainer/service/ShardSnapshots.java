package io.regatta.trainer.service;

import io.regatta.node.Node;
import io.regatta.protocol.ParameterServerControl;
import io.regatta.protocol.parameterserver.RestoreRequest;
import io.regatta.protocol.parameterserver.SaveRequest;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.snapshot.FileEntry;
import io.regatta.trainer.session.TrainerSession.RestoreOrder;
import io.regatta.trainer.session.TrainerSession.SaveOrder;
import io.regatta.trainer.session.TrainerSession.Saving;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Asks all shards of a job for a snapshot, or to read one, each over a control connection of its own for the time of a call.
 * Owned by {@link ClusterSession}, on its event loop.
 */
final class ShardSnapshots {

  private final Node node;
  private final String job;
  private final List<Shard> shards;

  ShardSnapshots(Node node, String job, List<Shard> shards) {
    this.node = node;
    this.job = job;
    this.shards = shards;
  }

  /** Completes when all have taken their moment. */
  Future<Saving> save(SaveOrder order) {
    SaveRequest request = SaveRequest.newBuilder().setJob(job).setDirectory(order.dir().toString())
        .setStep(order.pushes()).setKind(order.kind().label()).build();
    return all(control -> control.save(request)).map(begun -> {
      CompletableFuture<List<FileEntry>> written = new CompletableFuture<>();
      all(control -> control.saved(job)).onSuccess(written::complete).onFailure(written::completeExceptionally);
      return new Saving(written);
    });
  }

  /** Completes when all have read what is theirs: whether the dense vector was in it. */
  Future<Boolean> restore(RestoreOrder order) {
    RestoreRequest request = RestoreRequest.newBuilder().setJob(job).setDirectory(order.dir().toString())
        .setResume(order.resume()).setStep(order.pushes()).build();
    return all(control -> control.restore(request)).map(dense -> !dense.contains(false));
  }

  /** Their answers in the order of shards, when all have answered; or the first failure. */
  private <T> Future<List<T>> all(Function<ParameterServerControl, Future<T>> call) {
    List<Future<T>> answers = new ArrayList<>();
    for (Shard shard : shards) {
      ParameterServerControl control = new ParameterServerControl(node.vertx(), shard.getHost(), shard.getPort(),
          node.control());
      answers.add(call.apply(control).eventually(control::close));
    }
    return Future.join(answers).map(done -> new ArrayList<>(done.<T>list()));
  }
}
