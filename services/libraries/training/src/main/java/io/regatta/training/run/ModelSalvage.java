package io.regatta.training.run;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.snapshot.LostShard;
import io.regatta.snapshot.Snapshots;
import io.regatta.training.config.JobConfig;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunLosses;
import io.regatta.training.save.RemainingModel;
import io.regatta.training.save.SavedModel;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.snapshot.StartingPoint;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The save of a model whose run has failed because a process is lost. That process is the rendezvous, a server or an
 * aggregator, or another rank of a collective job after its training. Used on the model thread of replica 0.
 *
 * <p>The trainer of the lowest rank saves what still exists: rows and dense parameters of the remaining shards, and for
 * a lost shard the dense parameters that it pulled last. A shard is lost if its server does not answer for it either.
 * If the server does answer, only this trainer has lost its link, others may continue, and nothing is saved. A rank of
 * a collective job has all parameters itself. Only the model's description (metrics over all trainers, hash, result) is
 * missing.
 */
final class ModelSalvage {

  private static final Logger LOG = LoggerFactory.getLogger(ModelSalvage.class);

  /** Suffix of the output's name, for a model that was not trained to its end, or lacks rows. */
  private static final String UNFINISHED = ".unfinished";

  private final TrainerSession session;
  private final ModelSaves saves;
  private final Supplier<Optional<Set<Integer>>> reached;
  private final String name;

  /**
   * Creates the salvage of one rank.
   *
   * @param reached returns the ranks that have reached the end of the run; empty if they have not met there
   */
  ModelSalvage(TrainerSession session, ModelSaves saves, Supplier<Optional<Set<Integer>>> reached) {
    this.session = session;
    this.saves = saves;
    this.reached = reached;
    name = "trainer " + session.trainer().rank() + " of job " + session.job().job();
  }

  /**
   * Saves what has been trained, unless this is not the lowest trainer, or others continue the job. If the program had
   * saved its model before the loss, it only reports that. Blocks until the model is saved; each call to a server ends
   * when that server is lost, too.
   *
   * @param worker replica 0's
   * @param failure of the run
   * @param programEnded true if the program of replica 0 has ended
   * @return the failure of the run, which names what is saved and what is missing
   */
  Exception save(ReplicaWorker worker, Exception failure, boolean programEnded) {
    return failure instanceof RuntimeException why ? salvaged(worker, why, programEnded) : failure;
  }

  private RuntimeException salvaged(ReplicaWorker worker, RuntimeException why, boolean programEnded) {
    boolean alone = session.group().isWithoutRendezvous();
    FleetTrainer trainer = worker.trainer();
    if (!(why instanceof PeerLost) && !alone || trainer == null || session.client().isEmpty()) {
      return why;
    }
    if (programEnded && !worker.model().isEmpty()) {
      return savedBefore(worker, why);
    }
    boolean inCopies = session.serverEndpoints().isEmpty() && !alone;
    if (session.job().output().isBlank() || trainer.steps() == 0 || inCopies && !isWholeHere(worker)) {
      return why;
    }
    if (!session.group().isLowest() && alone) {
      return failure(" has ended, and leaves the model to the lowest trainer to save", why);
    }
    try {
      return isToSave() ? saved(worker, why) : why;
    } catch (RegattaException e) {
      LOG.warn("{} could not save what it has trained in {}: {}", name, session.job().output(), e.getMessage());
      return why;
    }
  }

  /**
   * Returns true if this rank of a collective job has what all have trained. The others of an elastic job continue
   * without it.
   */
  private boolean isWholeHere(ReplicaWorker worker) {
    return session.isCollective() && !session.isElastic() && worker.haveAllTrained();
  }

  /** Returns true if the loss of an aggregator affects only the trainers of its host: those of other hosts continue. */
  private boolean isOneHostsLoss() {
    return !session.isCollective() && session.isOneOfSeveralHosts();
  }

  /** Waits until a lower trainer has left, having saved the model or not, or is declared lost; for a lease at most. */
  private boolean isToSave() {
    return session.group().isLowest() || !isOneHostsLoss()
        && session.await("loss of the lower trainers, or their save of the model", session.group().lowest());
  }

  private RuntimeException saved(ReplicaWorker worker, RuntimeException why) {
    saves.begin();
    try {
      flush(worker.trainer());
      RemainingModel left = left(worker.trainer());
      if (left.lost().isEmpty() && session.group().isWithoutRendezvous()) {
        session.await("end of the others' training", session.othersAtRest());
        left = left(worker.trainer());
      } else if (left.lost().isEmpty() && isOneHostsLoss()) {
        return why;
      }
      return written(worker, left, why);
    } finally {
      saves.end();
    }
  }

  /** Flushes what only this trainer has (geo). A lost shard does not get it; the push counts on the others. */
  private void flush(FleetTrainer trainer) {
    try {
      trainer.handIn();
    } catch (PeerLost e) {
      LOG.debug("{} could not push to every shard what it has trained last: {}", name, e.getMessage());
    }
  }

  private RemainingModel left(FleetTrainer trainer) {
    float[] dense = trainer.lastDense();
    Set<Integer> lost = session.await("read of the remaining shards", trainer.client().readRemaining(dense));
    requireLost(lost);
    List<String> tables = trainer.tables().stream().map(SparseTableSpec::name).toList();
    List<LostShard> shards = new ArrayList<>();
    for (int shard : lost) {
      shards.add(new LostShard(shard, session.shards(), session.shardAddress(shard),
          session.sharding().holdsSparse(shard) ? tables : List.of(),
          trainer.client().partition().sizeOf(shard) > 0 ? trainer.steps() : -1));
    }
    return new RemainingModel(shards, dense);
  }

  /**
   * Checks that these shards are gone, and not only unreachable from this trainer.
   *
   * @throws PeerLost if one of them serves: others may continue there, so there is nothing to save here
   */
  private void requireLost(Set<Integer> shards) {
    if (shards.isEmpty()) {
      return;
    }
    Set<Integer> serving = session.await("question whether lost shards still serve", session.serving(shards));
    if (!serving.isEmpty()) {
      throw new PeerLost("only this trainer has lost its link to shard" + (serving.size() == 1 ? " " : "s ")
          + serving.stream().map(shard -> shard + " (" + session.shardAddress(shard) + ")")
              .collect(Collectors.joining(", "))
          + (serving.size() == 1 ? ", which still serves" : ", which still serve")
          + "; check the network between this trainer and the server");
    }
  }

  /** Saves the model. If another shard is lost meanwhile, it starts again without it: at most once for each shard. */
  private RuntimeException written(ReplicaWorker worker, RemainingModel first, RuntimeException why) {
    FleetTrainer trainer = worker.trainer();
    RunLosses losses = LossReport.soFar(session, reached.get(), trainer);
    boolean trained = worker.haveAllTrained() && (losses.accepted() || !losses.hasUntrained());
    RemainingModel left = first;
    while (true) {
      Path whole = Path.of(session.job().output());
      Path dir = trained && (left.isWhole() || isSaved(whole, worker)) ? whole : unfinished(session.job());
      if (isSaved(dir, worker)) {
        return dir.toString().equals(worker.model()) ? savedBefore(worker, why)
            : failure(" has ended; a lower trainer has saved the model in " + dir, why);
      }
      try {
        SavedModel.write(dir, session, trainer, worker.progress(), left);
        if (left.isWhole()) {
          saves.saved(dir.toString());
        }
        return failure(" has saved " + what(left, trained, trainer.steps()) + " in " + dir + details(left)
            + (losses.hasUntrained() ? "; without " + losses.untrained() : "") + lastSnapshot(trainer), why);
      } catch (PeerLost e) {
        RemainingModel less = left(trainer);
        if (less.lost().size() <= left.lost().size()) {
          throw e;
        }
        left = less;
      }
    }
  }

  /** Returns the directory of a job's model that was not trained to its end, or lacks rows. */
  static Path unfinished(JobConfig job) {
    return Path.of(job.output() + UNFINISHED);
  }

  private PeerLost savedBefore(ReplicaWorker worker, RuntimeException why) {
    return failure(" has ended, its model is saved in " + worker.model(), why);
  }

  /** Returns true if the model is saved in its present state: before the loss, or by a lower trainer that has left. */
  private boolean isSaved(Path dir, ReplicaWorker worker) {
    return saves.known().isSaved(dir, worker.trainer().run(), worker.steps());
  }

  private static String what(RemainingModel left, boolean trained, long steps) {
    String unfinished = ", not yet trained to its end (" + steps + (steps == 1 ? " step)," : " steps),");
    return left.isWhole() ? "the model" + (trained ? ", as the trainers have trained it," : unfinished)
        : "what is left of the model" + (trained ? "," : unfinished);
  }

  private String details(RemainingModel left) {
    String missing = LostShard.missingRows(left.lost());
    String older = LostShard.olderDense(left.lost());
    long step = left.lost().stream().mapToLong(LostShard::denseStep).max().orElse(-1);
    return (missing.isEmpty() ? "" : "; " + missing + " are missing")
        + (older.isEmpty() ? "" : "; " + older + " are those that this trainer pulled last, at step " + step);
  }

  /** Returns a text on the last whole snapshot of this run; empty if there is none. */
  private String lastSnapshot(FleetTrainer trainer) {
    try {
      return Snapshots.list(StartingPoint.root(session.job())).stream()
          .filter(found -> found.manifest().run().equals(trainer.run())).reduce((before, last) -> last)
          .map(last -> "; the last whole snapshot is " + last.dir() + " (step " + last.manifest().step() + ")")
          .orElse("");
    } catch (IOException | InvalidInput e) {
      LOG.warn("{} could not look for snapshots: {}", name, e.getMessage());
      return "";
    }
  }

  private PeerLost failure(String what, RuntimeException why) {
    return new PeerLost(name + what + "; the result is missing (metrics over all trainers, hash), because "
        + (session.group().isWithoutRendezvous() ? "the trainers could not meet: " : "the run has failed: ")
        + why.getMessage(), why);
  }
}
