package io.regatta.trainer;

import io.regatta.node.Node;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.message.ProgressMessages;
import io.regatta.protocol.parameterserver.PushMark;
import io.regatta.protocol.parameterserver.RestoreRequest;
import io.regatta.protocol.parameterserver.SaveRequest;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.snapshot.FileEntry;
import io.regatta.training.session.TrainerSession.RestoreOrder;
import io.regatta.training.session.TrainerSession.SaveOrder;
import io.regatta.training.session.TrainerSession.Saving;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests to all shards of a job to take a snapshot, or to read one, each over a control connection that is opened
 * for one call. Owned by {@link RankSession}, on its event loop.
 */
final class ShardSnapshots {

  private static final Logger LOG = LoggerFactory.getLogger(ShardSnapshots.class);

  private final Node node;
  private final String job;
  private final List<Shard> shards;
  private final boolean rounds;

  /** @param rounds true if the job has rounds, so that the step determines which pushes a snapshot contains */
  ShardSnapshots(Node node, String job, List<Shard> shards, boolean rounds) {
    this.rounds = rounds;
    this.node = node;
    this.job = job;
    this.shards = shards;
  }

  /** Takes a snapshot; completes when all shards have captured their state. */
  Future<Saving> save(SaveOrder order) {
    SaveRequest.Builder request = SaveRequest.newBuilder().setJob(job).setDirectory(name(order.dir()))
        .setStep(order.round()).setKind(order.kind().label());
    Future<List<PushMark>> last = rounds ? Future.succeededFuture(List.of()) : lastPushes(name(order.dir()));
    return last.compose(marks -> {
      SaveRequest same = request.addAllUpTo(marks).build();
      return all(control -> control.save(same));
    }).map(begun -> {
      CompletableFuture<List<FileEntry>> written = new CompletableFuture<>();
      all(control -> control.saved(job).map(FileEntry::of)).onSuccess(written::complete).onFailure(written::completeExceptionally);
      return new Saving(written);
    });
  }

  /**
   * Holds new pushes on all shards until these have captured their state, and returns the last push of each trainer
   * that any shard has. Returns none if a running push cannot end; the snapshot then contains what each shard has.
   *
   * @param directory of the snapshot, which identifies the hold
   */
  private Future<List<PushMark>> lastPushes(String directory) {
    return all(control -> control.hold(job, directory)).map(shardsMarks -> {
      Map<Integer, PushMark> highest = new TreeMap<>();
      shardsMarks.forEach(marks -> marks.forEach(mark -> highest.merge(mark.getRank(), mark, ShardSnapshots::later)));
      return List.copyOf(highest.values());
    }).recover(e -> {
      LOG.warn("pushes of job {} could not be held for a snapshot, which is taken without: {}", job, e.getMessage());
      return Future.succeededFuture(List.of());
    });
  }

  /** Returns a directory in the form that servers compare with their roots. */
  private static String name(Path dir) {
    return dir.toAbsolutePath().normalize().toString();
  }

  private static PushMark later(PushMark a, PushMark b) {
    return a.getIncarnation() > b.getIncarnation() || a.getIncarnation() == b.getIncarnation() && a.getSequence() > b.getSequence()
        ? a : b;
  }

  /** Reads a snapshot; completes when all shards have read their parts, with true if the dense vector was in it. */
  Future<Boolean> restore(RestoreOrder order) {
    RestoreRequest.Builder request = RestoreRequest.newBuilder().setJob(job).setDirectory(name(order.dir()))
        .setResume(order.resume());
    ProgressMessages.put(order.at(), request);
    RestoreRequest same = request.build();
    return all(control -> control.restore(same)).map(dense -> !dense.contains(false));
  }

  /** Returns the answers in the order of shards, when all have answered; or the first failure. */
  private <T> Future<List<T>> all(Function<ParameterServerControl, Future<T>> call) {
    List<Future<T>> answers = new ArrayList<>();
    for (Shard shard : shards) {
      ParameterServerControl control = new ParameterServerControl(node.network(), shard.getHost(), shard.getPort());
      answers.add(call.apply(control).eventually(control::close));
    }
    return Future.join(answers).map(done -> new ArrayList<>(done.<T>list()));
  }
}
