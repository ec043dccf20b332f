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

/** Progress of each trainer at the moment of a snapshot, as the files that the shards have written for it say. Any thread. */
final class TrainersPlaces {

  private final TrainerSession session;
  private final JobSpec spec;

  TrainersPlaces(TrainerSession session, JobSpec spec) {
    this.session = session;
    this.spec = spec;
  }

  /**
   * Content of a manifest that depends on the moment.
   *
   * @param version the highest of the shards'
   * @param updates of the optimizers
   * @param fuzzy true if the shards contain different pushes of a trainer
   * @param examples that the run has trained
   * @param trainers in rank order
   */
  record At(long version, OptimizerUpdates updates, boolean fuzzy, ExampleCounts examples,
      List<Manifest.Trainer> trainers) {}

  /** What a shard says of one trainer. */
  private record Said(long incarnation, long clock, long sequence, TrainerProgress progress, long ahead,
      boolean active) {

    static Said of(JsonObject json) {
      return new Said(json.getLong("incarnation"), json.getLong("clock"), json.getLong("sequence"),
          ShardSaver.progress(json), json.getLong("ahead", 0L), json.getBoolean("active", true));
    }
  }

  /**
   * Reads what the shards say; blocks on files.
   *
   * @param dir of the snapshot
   * @param files of the shards in it, in their order
   * @param steps that all have made, in sync mode
   * @param round that comes next, in sync mode
   * @param cursor where reading goes on, of all trainers that are left; empty if that is not known
   * @param known examples of the run as this rank knows them; with servers, the number trained is theirs
   * @throws IOException if a shard has saved another moment than that of this round
   */
  At at(Path dir, List<FileEntry> files, long steps, long round, JsonObject cursor, ExampleCounts known)
      throws IOException {
    long version = 0;
    OptimizerUpdates updates = null;
    boolean fuzzy = false;
    Map<Integer, List<Said>> trainers = new TreeMap<>();
    for (int s = 0; s < files.size(); s++) {
      JsonObject state = ShardSaver.state(ConfinedDirectory.of(dir), files.get(s));
      if (spec.mode().hasRounds() && state.getLong("step") != round) {
        throw new IOException("shard " + s + " has saved what it held before step " + state.getLong("step") + ", not before "
            + round + ", for trainers were lost meanwhile");
      }
      version = Math.max(version, state.getLong("version"));
      OptimizerUpdates its = ShardSaver.updates(state);
      updates = updates == null ? its : updates.max(its);
      fuzzy |= !state.getBoolean("whole");
      state.getJsonArray("trainers").stream().map(JsonObject.class::cast)
          .forEach(t -> trainers.computeIfAbsent(t.getInteger("rank"), rank -> new ArrayList<>()).add(Said.of(t)));
    }
    // A trainer that is gone is where its last push was: its part of the data is still to be trained from there.
    boolean together = trainers.values().stream().flatMap(List::stream).allMatch(Said::active);
    JsonObject place = together ? cursor : new JsonObject();
    List<Manifest.Trainer> all = new ArrayList<>();
    long ahead = 0;
    for (Map.Entry<Integer, List<Said>> said : trainers.entrySet()) {
      all.add(trainer(said.getKey(), said.getValue(), steps, round, place));
      fuzzy |= !spec.mode().hasRounds() && said.getValue().stream().mapToLong(Said::sequence).distinct().count() > 1;
      ahead += spec.mode().hasRounds() ? 0 : ahead(said.getValue());
    }
    for (int rank = 1; session.isCollective() && rank < session.worldSize(); rank++) { // all are where the first is
      all.add(as(rank, all.get(0)));
    }
    ExampleCounts examples = session.isCollective() ? known
        : new ExampleCounts(trained(all), known.repeated(), ahead);
    return new At(version, updates, fuzzy, examples, List.copyOf(all));
  }

  /** Returns the examples of all trainers; not known if one of them does not tell. */
  private static long trained(List<Manifest.Trainer> all) {
    boolean known = all.stream().allMatch(t -> t.progress().examples() >= 0);
    return known ? all.stream().mapToLong(t -> t.progress().examples()).sum() : TrainerProgress.UNKNOWN;
  }

  /** Returns how many examples of a trainer one shard contains and another one does not. */
  private static long ahead(List<Said> shards) {
    long least = least(shards).progress().examples();
    return least < 0 ? 0
        : shards.stream().mapToLong(said -> said.progress().examples() + said.ahead()).max().orElse(least) - least;
  }

  /**
   * Returns what the shard says that contains least of a trainer's pushes. Of shards with the same last push it is one
   * that has applied only a part of it so far, if there is one: its clock has not ticked for that push.
   */
  private static Said least(List<Said> shards) {
    return Collections.min(shards, Comparator.comparingLong(Said::sequence).thenComparingLong(Said::clock));
  }

  /** In sync mode all are where the round is; otherwise each is where its last push is that all shards have. */
  private Manifest.Trainer trainer(int rank, List<Said> shards, long steps, long round, JsonObject cursor) {
    Said least = least(shards);
    TrainerProgress progress = least.progress();
    if (progress.equals(TrainerProgress.NONE) && least.sequence() > 0) { // a trainer that does not tell any
      progress = new TrainerProgress(least.clock(), least.clock(), least.clock(), List.of());
    }
    if (spec.mode().hasRounds()) {
      progress = new TrainerProgress(steps, round, round, progress.examples(), progress.replicas());
    }
    if (session.isCollective()) { // their steps are made together, and counted together
      progress = progress.withExamples(TrainerProgress.UNKNOWN);
    }
    return new Manifest.Trainer(rank, least.incarnation(), progress,
        shards.stream().map(said -> spec.mode().hasRounds() ? round : said.clock()).toList(),
        shards.stream().map(Said::sequence).toList(), cursor);
  }

  private static Manifest.Trainer as(int rank, Manifest.Trainer first) {
    TrainerProgress its = first.progress();
    List<Replica> replicas = its.replicas().stream().map(r -> new Replica(r.localSteps(), r.parts().stream()
        .map(p -> new Part(p.pass(), rank, p.of(), p.batches(), p.stride())).toList())).toList();
    return new Manifest.Trainer(rank, first.incarnation(), new TrainerProgress(its.localSteps(), its.exchanges(),
        its.learningRateStep(), its.examples(), replicas), first.clocks(), first.sequences(), first.cursor());
  }
}
