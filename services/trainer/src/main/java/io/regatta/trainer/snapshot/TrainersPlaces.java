package io.regatta.trainer.snapshot;

import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.protocol.snapshot.FileEntry;
import io.regatta.protocol.snapshot.Manifest;
import io.regatta.protocol.snapshot.ShardSaver;
import io.regatta.trainer.session.TrainerSession;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Where each trainer was at the moment of a snapshot, as the files that the shards have written for it say. Any thread. */
final class TrainersPlaces {

  private final TrainerSession session;
  private final Mode mode;
  private final long pushesPerStep;

  /** @param pushesPerStep pushes that a rank makes in a step */
  TrainersPlaces(TrainerSession session, Mode mode, long pushesPerStep) {
    this.session = session;
    this.mode = mode;
    this.pushesPerStep = pushesPerStep;
  }

  /**
   * What a manifest says of a moment.
   *
   * @param version the highest of the shards'
   * @param trainers in rank order
   */
  record At(long version, List<Manifest.Trainer> trainers) {}

  /**
   * Reads what the shards say; blocks on files.
   *
   * @param dir of the snapshot
   * @param files of the shards in it, in their order
   * @param cursor where reading goes on, of all trainers; empty if that is not known
   * @throws IOException if a shard has saved another moment than that of this step
   */
  At at(Path dir, List<FileEntry> files, long steps, JsonObject cursor) throws IOException {
    long version = 0;
    Map<Integer, Manifest.Trainer> trainers = new TreeMap<>();
    for (int s = 0; s < files.size(); s++) {
      JsonObject state = ShardSaver.state(dir.resolve(files.get(s).file()));
      if (mode == Mode.SYNC && state.getLong("step") != steps) {
        throw new IOException("shard " + s + " has saved what it held before step " + state.getLong("step") + ", not before "
            + steps + ", for trainers were lost meanwhile");
      }
      version = Math.max(version, state.getLong("version"));
      JsonArray its = state.getJsonArray("trainers");
      for (int i = 0; i < its.size(); i++) {
        add(trainers, its.getJsonObject(i), steps, cursor);
      }
    }
    for (int rank = 1; session.peers().isPresent() && rank < session.worldSize(); rank++) { // all are where the first is
      trainers.put(rank, trainers.get(0).as(rank));
    }
    return new At(version, List.copyOf(trainers.values()));
  }

  /** In sync mode all are where the round is; in the others each is where its pushes are, as far as a shard has them. */
  private void add(Map<Integer, Manifest.Trainer> trainers, JsonObject t, long steps, JsonObject cursor) {
    int rank = t.getInteger("rank");
    long clock = t.getLong("clock");
    long pushes = clock * (mode == Mode.GEO ? session.job().kSteps() : 1) / pushesPerStep;
    Manifest.Trainer known = trainers.get(rank);
    List<Long> clocks = new ArrayList<>(known == null ? List.of() : known.clocks());
    clocks.add(clock);
    List<Long> sequences = new ArrayList<>(known == null ? List.of() : known.sequences());
    sequences.add(t.getLong("sequence"));
    long its = mode == Mode.SYNC ? steps : known == null ? pushes : Math.min(pushes, known.progress().localSteps());
    trainers.put(rank, new Manifest.Trainer(rank, t.getLong("incarnation"), new TrainerProgress(its, clock, its, List.of()), clocks,
        sequences, cursor));
  }
}
