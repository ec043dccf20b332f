package io.regatta.training.snapshot;

import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerProgress.Replica;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.snapshot.ExampleCounts;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.ShardSaver;
import io.regatta.training.session.TrainerSession;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The progress of each trainer at a snapshot, read from the files that the shards have written for it. Any thread may
 * use it.
 */
final class TrainersPlaces {

  private final TrainerSession session;
  private final JobSpec spec;

  TrainersPlaces(TrainerSession session, JobSpec spec) {
    this.session = session;
    this.spec = spec;
  }

  /**
   * The content of a manifest that depends on the captured state.
   *
   * @param version the highest of the shards'
   * @param updates of the optimizers
   * @param fuzzy true if the shards contain different pushes of a trainer
   * @param examples that the run has trained
   * @param trainers in rank order
   */
  record At(long version, OptimizerUpdates updates, boolean fuzzy, ExampleCounts examples,
      List<Manifest.Trainer> trainers) {}

  /** A shard's record of one trainer. */
  private record ShardRecord(long incarnation, long clock, long sequence, TrainerProgress progress, long ahead,
      boolean active) {

    static ShardRecord of(JsonObject json) {
      return new ShardRecord(json.getLong("incarnation"), json.getLong("clock"), json.getLong("sequence"),
          ShardSaver.progress(json), json.getLong("ahead", 0L), json.getBoolean("active", true));
    }
  }

  /**
   * Reads the shards' records; blocks on files.
   *
   * @param dir of the snapshot
   * @param files of the shards in it, in their order
   * @param steps that all have made, in sync mode
   * @param round next round, in sync mode
   * @param cursor from which reading resumes, for all remaining trainers; empty if that is not known
   * @param known examples of the run as this rank knows them; with servers, the number trained is theirs
   * @throws IOException if a shard has saved the state of another round
   */
  At at(Path dir, List<FileEntry> files, long steps, long round, JsonObject cursor, ExampleCounts known)
      throws IOException {
    long version = 0;
    OptimizerUpdates updates = null;
    boolean fuzzy = false;
    Map<Integer, List<ShardRecord>> trainers = new TreeMap<>();
    for (int s = 0; s < files.size(); s++) {
      JsonObject state = ShardSaver.state(ConfinedDirectory.of(dir), files.get(s));
      if (spec.mode().hasRounds() && state.getLong("step") != round) {
        throw new IOException("shard " + s + " has saved its state before step " + state.getLong("step") + ", not before "
            + round + ", because trainers were lost meanwhile");
      }
      version = Math.max(version, state.getLong("version"));
      OptimizerUpdates its = ShardSaver.updates(state);
      updates = updates == null ? its : updates.max(its);
      fuzzy |= !state.getBoolean("whole");
      state.getJsonArray("trainers").stream().map(JsonObject.class::cast)
          .forEach(t -> trainers.computeIfAbsent(t.getInteger("rank"), rank -> new ArrayList<>()).add(ShardRecord.of(t)));
    }
    // A lost trainer's position is that of its last push: the rest of its data must still be trained.
    boolean together = trainers.values().stream().flatMap(List::stream).allMatch(ShardRecord::active);
    JsonObject place = together ? cursor : new JsonObject();
    List<Manifest.Trainer> all = new ArrayList<>();
    long ahead = 0;
    for (Map.Entry<Integer, List<ShardRecord>> said : trainers.entrySet()) {
      all.add(trainer(said.getKey(), said.getValue(), steps, round, place));
      fuzzy |= !spec.mode().hasRounds() && said.getValue().stream().mapToLong(ShardRecord::sequence).distinct().count() > 1;
      ahead += spec.mode().hasRounds() ? 0 : ahead(said.getValue());
    }
    for (int rank = 1; session.isCollective() && rank < session.worldSize(); rank++) { // all are like the first
      all.add(as(rank, all.get(0)));
    }
    ExampleCounts examples = session.isCollective() ? known
        : new ExampleCounts(trained(all), known.repeated(), ahead);
    return new At(version, updates, fuzzy, examples, List.copyOf(all));
  }

  /** Returns the examples of all trainers; unknown if one of them does not report any. */
  private static long trained(List<Manifest.Trainer> all) {
    boolean known = all.stream().allMatch(t -> t.progress().examples() >= 0);
    return known ? all.stream().mapToLong(t -> t.progress().examples()).sum() : TrainerProgress.UNKNOWN;
  }

  /** Returns the examples of a trainer that one shard contains and another one does not. */
  private static long ahead(List<ShardRecord> shards) {
    long least = least(shards).progress().examples();
    return least < 0 ? 0
        : shards.stream().mapToLong(said -> said.progress().examples() + said.ahead()).max().orElse(least) - least;
  }

  /**
   * Returns the record of the shard that contains least of a trainer's pushes. Among shards with the same last push it
   * is one that has applied only some of it, if there is one: its clock has not advanced for that push.
   */
  private static ShardRecord least(List<ShardRecord> shards) {
    return Collections.min(shards, Comparator.comparingLong(ShardRecord::sequence).thenComparingLong(ShardRecord::clock));
  }

  /**
   * Returns a trainer's progress: in sync mode that of the round, otherwise that of its last push that all shards have.
   */
  private Manifest.Trainer trainer(int rank, List<ShardRecord> shards, long steps, long round, JsonObject cursor) {
    ShardRecord least = least(shards);
    TrainerProgress progress = least.progress();
    if (progress.equals(TrainerProgress.NONE) && least.sequence() > 0) { // does not report any
      progress = new TrainerProgress(least.clock(), least.clock(), least.clock(), List.of());
    }
    if (spec.mode().hasRounds()) {
      progress = new TrainerProgress(steps, round, round, progress.examples(), progress.replicas());
    }
    if (session.isCollective()) { // steps are counted together
      progress = progress.withExamples(TrainerProgress.UNKNOWN);
    }
    return new Manifest.Trainer(rank, least.incarnation(), progress,
        shards.stream().map(said -> spec.mode().hasRounds() ? round : said.clock()).toList(),
        shards.stream().map(ShardRecord::sequence).toList(), cursor);
  }

  private static Manifest.Trainer as(int rank, Manifest.Trainer first) {
    TrainerProgress its = first.progress();
    List<Replica> replicas = its.replicas().stream().map(r -> new Replica(r.localSteps(), r.parts().stream()
        .map(p -> new Part(p.pass(), rank, p.of(), p.batches(), p.stride())).toList())).toList();
    return new Manifest.Trainer(rank, first.incarnation(), new TrainerProgress(its.localSteps(), its.exchanges(),
        its.learningRateStep(), its.examples(), replicas), first.clocks(), first.sequences(), first.cursor());
  }
}
