package io.regatta.training.snapshot;

import io.regatta.core.data.UnfinishedPasses;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerStart;
import io.regatta.data.DataCursor;
import io.regatta.snapshot.ExampleCounts;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.PaddleTables;
import io.regatta.snapshot.SnapshotChain;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.snapshot.SnapshotRemoval;
import io.regatta.snapshot.Snapshots;
import io.regatta.training.config.JobConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The starting point of a run: its own initial values, those of another run ({@code init_from}), or the point where it
 * stopped ({@code resume}). It is a function of the job and of what is on disk, so that all ranks find the same.
 * Immutable.
 *
 * @param dir of the snapshot, or of Paddle's tables; null: none, the run begins with its own initial values
 * @param manifest of the snapshot; null if there is none
 * @param resume true if steps continue from there
 */
public record StartingPoint(Path dir, Manifest manifest, boolean resume) {

  private static final Logger LOG = LoggerFactory.getLogger(StartingPoint.class);
  private static final String AUTO = "auto";

  /** Returns the starting point of a run with its own initial values. */
  public static StartingPoint none() {
    return new StartingPoint(null, null, false);
  }

  /**
   * Returns the job's starting point. Blocks on files.
   *
   * @throws InvalidInput if the named snapshot does not exist, or is not a snapshot, or the last one cannot be
   *     determined
   */
  public static StartingPoint of(JobConfig job) {
    try {
      if (job.resume().equals(AUTO)) {
        var latest = Snapshots.latest(root(job));
        if (latest.isPresent()) {
          return at(latest.get(), true);
        }
      } else if (!job.resume().isBlank()) {
        return at(Snapshots.named("resume", plain(job.resume())), true);
      }
      if (job.initFrom().isBlank()) {
        return none();
      }
      Path from = plain(job.initFrom());
      if (PaddleTables.isThere(from)) {
        return new StartingPoint(from, null, false);
      }
      return at(Snapshots.named("init_from", from), false);
    } catch (IOException e) {
      throw new InvalidInput("job " + job.job() + ": the snapshot to start from cannot be read: " + e, e);
    }
  }

  /** Returns a snapshot, after checking that all snapshots to which it is relative exist. */
  private static StartingPoint at(Snapshots.Found found, boolean resume) {
    if (resume && !found.resumable()) {
      throw new InvalidInput(found.dir() + " cannot be resumed: an earlier release wrote it in geo mode, and it does not say how many steps "
          + "its trainers had made (regatta-snapshot-1). Begin a new run from its values: set init_from: " + found.dir()
          + " in place of resume, and another snapshots.dir (or output)");
    }
    StartingPoint start = new StartingPoint(found.dir(), found.manifest(), resume);
    try {
      SnapshotChain.of(found.dir());
      return start;
    } catch (InvalidInput e) {
      throw start.explain(e);
    }
  }

  /** Returns the directory of the job's snapshots. */
  public static Path root(JobConfig job) {
    return plain(job.snapshots().dir().isBlank() ? job.output() : job.snapshots().dir());
  }

  /** Returns an absolute normalized path: servers compare names with those of their roots, part by part. */
  private static Path plain(String name) {
    return Path.of(name).toAbsolutePath().normalize();
  }

  /**
   * Returns the directories in which the job's snapshots are written, and from which it starts: those below which its
   * servers need to write and read. Empty if it names none. Blocks on files.
   */
  public static List<String> directories(JobConfig job) {
    List<Path> all = new ArrayList<>();
    if (job.hasPlace()) {
      all.add(root(job));
    }
    read(job).stream().map(StartingPoint::withParents).forEach(all::add);
    return all.stream().map(Path::toString).distinct().toList();
  }

  /**
   * Returns the directory that holds a delta and its base; for other snapshots the snapshot itself. Blocks on files.
   */
  private static Path withParents(Path snapshot) {
    return Snapshots.find(snapshot).filter(found -> found.manifest().kind() == SnapshotKind.DELTA)
        .map(delta -> snapshot.getParent()).orElse(snapshot);
  }

  /**
   * Returns the directory in which the job's servers write from its beginning, or none: a program may still request
   * snapshots.
   */
  public static List<Path> written(JobConfig job) {
    boolean wanted = job.snapshots().isOn() || !job.snapshots().dir().isBlank();
    return job.hasPlace() && wanted ? List.of(root(job)) : List.of();
  }

  /** Returns the directories that the job names for its servers to read from; {@code auto} names none. */
  public static List<Path> read(JobConfig job) {
    return Stream.of(job.resume(), job.initFrom()).filter(name -> !name.isBlank() && !name.equals(AUTO))
        .map(StartingPoint::plain).toList();
  }

  /**
   * Returns the error that prevents a resume; if the snapshot is damaged, with the last whole one before it and how to
   * use that. It then reads all of these; blocks on files.
   *
   * @param e the servers' error
   */
  public InvalidInput explain(InvalidInput e) {
    if (!resume || isWhole(dir)) {
      return e;
    }
    List<Path> behind = new ArrayList<>(); // newest first
    Optional<Snapshots.Found> before = Optional.empty();
    try {
      List<Snapshots.Found> all = new ArrayList<>(Snapshots.list(dir.getParent()));
      Collections.reverse(all);
      for (Snapshots.Found each : all) {
        if (before.isPresent() || !each.manifest().run().equals(manifest.run())) {
          continue;
        }
        if (each.manifest().isBefore(manifest) && isWhole(each.dir())) {
          before = Optional.of(each);
        } else {
          behind.add(each.dir());
        }
      }
    } catch (IOException unreadable) {
      return e;
    }
    String later = behind.stream().map(Path::toString).collect(Collectors.joining(", "));
    return new InvalidInput(e.getMessage() + ". " + before.map(found -> "The last whole one before it is " + found.dir()
        + " (step " + found.manifest().step() + "): to resume from there set resume: " + found.dir() + ", and remove, or "
        + "move away, " + later).orElse("No whole one is before it in " + dir.getParent() + ": start a new run, without resume, "
            + "with another snapshots.dir (or output)"), e);
  }

  private static boolean isWhole(Path dir) {
    try {
      for (Snapshots.Found member : SnapshotChain.of(dir)) {
        SnapshotDirectory.verify(member.dir());
      }
      return true;
    } catch (IOException | InvalidInput e) {
      return false;
    }
  }

  /**
   * Checks that the directory of the job's snapshots has none that would mix with this run's: of another run, or of
   * later steps. Blocks on files.
   *
   * @throws InvalidInput naming the snapshot and what to do
   */
  public void refuseOthersIn(Path root) throws IOException {
    for (Snapshots.Found there : Snapshots.list(root)) {
      if (!resume || !there.manifest().run().equals(manifest.run()) || manifest.isBefore(there.manifest())) {
        throw new InvalidInput(root + " holds snapshot " + there.dir().getFileName() + " of job " + there.manifest().job()
            + (resume ? ", which the run did not take before " + dir : ", but this is a new run")
            + "; resume from the last one with resume: auto, or name another snapshots.dir (or output), or remove its snapshots");
      }
    }
  }

  /**
   * Removes unfinished snapshots of killed runs, and of earlier incarnations of this run, from the job's directory.
   * Called on one rank, before any rank makes a step. Blocks on files.
   */
  public void removeLeft(JobConfig job) {
    try {
      SnapshotRemoval.left(root(job), resume ? manifest.run() : "");
    } catch (IOException e) {
      LOG.warn("unfinished snapshots of killed runs in {} could not be removed: {}", root(job), e.toString());
    }
  }

  /**
   * Checks that a run resumes with the features of the snapshot: others would give the ids and numbers of its rows another
   * meaning.
   *
   * @param features digest of those of this run
   */
  public void requireFeatures(String job, String features) {
    if (resume && !manifest.features().isEmpty() && !manifest.features().equals(features)) {
      throw new InvalidInput("job " + job + ": snapshot " + dir + " was taken with other features or statistics (digest "
          + manifest.features() + ", now " + (features.isEmpty() ? "none" : features) + "); put back the job's features and the "
          + "directory of data.statistics as they were, or start a new run, without resume, in another snapshots.dir (or output)");
    }
  }

  /** Returns true if there is something to read. */
  public boolean isGiven() {
    return dir != null;
  }

  /**
   * Returns the local steps of the rank that took the snapshot, by which ranks check that they have the same one; 0
   * without one.
   */
  public long steps() {
    return resume ? manifest.step() : 0;
  }

  /** Returns the examples that earlier incarnations of the run have trained. */
  public ExampleCounts examples() {
    return resume ? manifest.examples() : ExampleCounts.NONE;
  }

  /**
   * Returns the position of the run for the shards.
   *
   * @param ranks that resume it
   * @param replicas of each
   * @param pushesPerStep pushes that a rank makes in a step
   */
  public ResumePoint at(int ranks, int replicas, int pushesPerStep) {
    if (!resume) {
      return ResumePoint.NONE;
    }
    List<TrainerStart> starts = new ArrayList<>();
    Optional<UnfinishedPasses> left = unfinished(ranks * replicas);
    for (int rank = 0; rank < ranks; rank++) {
      starts.add(start(rank, ranks, replicas, pushesPerStep, left));
    }
    return new ResumePoint(round(), starts);
  }

  /** Returns the steps that all have made, in modes with rounds; in the others those of the furthest schedule. */
  private long round() {
    return manifest.trainers().stream().mapToLong(t -> t.progress().learningRateStep()).max().orElse(manifest.step());
  }

  /**
   * Returns the start of a trainer, from its own progress; if the number of trainers has changed, from the mean of all.
   */
  private TrainerStart start(int rank, int ranks, int replicas, int pushesPerStep, Optional<UnfinishedPasses> left) {
    List<Manifest.Trainer> before = manifest.trainers();
    Optional<Manifest.Trainer> own = before.size() != ranks ? Optional.empty()
        : before.stream().filter(t -> t.rank() == rank).findFirst();
    boolean rounds = Mode.find(manifest.mode()).filter(Mode::hasRounds).isPresent();
    TrainerProgress progress = own.map(Manifest.Trainer::progress).orElseGet(() -> new TrainerProgress(
        mean(TrainerProgress::localSteps), mean(TrainerProgress::exchanges), rounds ? round() : mean(TrainerProgress::learningRateStep),
        TrainerProgress.UNKNOWN, List.of()));
    long clock = own.isPresent() && !rounds && !isVersion1() ? own.get().clock() : progress.learningRateStep() * pushesPerStep;
    List<TrainerProgress.Replica> places = new ArrayList<>();
    for (int r = 0; r < replicas; r++) {
      long localSteps = progress.replicas().size() == replicas ? progress.replicas().get(r).localSteps() : progress.localSteps();
      int worker = rank * replicas + r;
      places.add(new TrainerProgress.Replica(localSteps, left.map(l -> l.parts().get(worker)).orElse(List.of())));
    }
    return new TrainerStart(rank, clock, new TrainerProgress(progress.localSteps(), progress.exchanges(), progress.learningRateStep(),
        progress.examples() < 0 ? shareOfExamples(rank, ranks) : progress.examples(), places));
  }

  /** Returns a rank's share of the examples in the snapshot; the shares add up to all of them. */
  private long shareOfExamples(int rank, int ranks) {
    long all = examples().trained();
    return all < 0 ? TrainerProgress.UNKNOWN : all / ranks + (rank < all % ranks ? 1 : 0);
  }

  private long mean(ToLongFunction<TrainerProgress> count) {
    List<Manifest.Trainer> before = manifest.trainers();
    return before.isEmpty() ? manifest.step() : before.stream().map(Manifest.Trainer::progress).mapToLong(count).sum() / before.size();
  }

  /** Returns true for version 1, which counts steps where the shards count pushes. */
  private boolean isVersion1() {
    return manifest.trainers().stream().allMatch(t -> t.progress().replicas().isEmpty());
  }

  /**
   * Returns the rest of the unfinished passes, divided among the replicas of all ranks; empty if it is not known, as in
   * snapshots of version 1.
   */
  public Optional<UnfinishedPasses> unfinished(int workers) {
    if (!resume) {
      return Optional.empty();
    }
    DataCursor cursor = cursor();
    if (cursor != null && cursor.beginsPass()) {
      List<List<Part>> begun = new ArrayList<>();
      for (int worker = 0; worker < workers; worker++) {
        begun.add(List.of(new Part(cursor.pass(), worker, workers, 0)));
      }
      return Optional.of(new UnfinishedPasses(cursor.pass(), cursor.pass(), begun));
    }
    int replicas = manifest.trainers().stream().mapToInt(t -> t.progress().replicas().size()).max().orElse(0);
    List<TrainerProgress.Replica> all = new ArrayList<>();
    for (Manifest.Trainer trainer : manifest.trainers()) {
      List<TrainerProgress.Replica> its = new ArrayList<>(trainer.progress().replicas());
      boolean begins = its.isEmpty() && trainer.sequences().stream().allMatch(n -> n == 0);
      for (int r = 0; begins && r < replicas; r++) {
        its.add(new TrainerProgress.Replica(0, List.of()));
      }
      if (its.size() != replicas) {
        return Optional.empty();
      }
      all.addAll(its);
    }
    return UnfinishedPasses.of(all, workers);
  }

  /**
   * Returns the batches of its training data that a trainer had trained, if positions in the data are not known. With
   * another number of trainers each has its share of all that was trained.
   */
  public long batches(int rank, int trainers) {
    if (!resume) {
      return 0;
    }
    if (manifest.trainers().size() != trainers) {
      return manifest.trainers().stream().mapToLong(t -> t.progress().localSteps()).sum() / trainers;
    }
    return manifest.trainers().stream().filter(t -> t.rank() == rank).mapToLong(t -> t.progress().localSteps()).findFirst()
        .orElse(manifest.step());
  }

  /**
   * Returns the cursor from which reading of training data resumes, the same for all ranks; null if the snapshot has
   * none.
   */
  public DataCursor cursor() {
    if (!resume || manifest.trainers().isEmpty() || manifest.trainers().get(0).cursor().isEmpty()) {
      return null;
    }
    return manifest.trainers().get(0).cursor().mapTo(DataCursor.class);
  }

  /** Returns the batches after that cursor which each trainer must skip; with another number of trainers, its share. */
  public long batchesBehindCursor(int trainers) {
    DataCursor cursor = cursor();
    return cursor == null ? 0 : cursor.batches() * manifest.trainers().size() / trainers;
  }

  /** Returns a description for the log. */
  public String describe() {
    return resume ? "resumes at step " + steps() + " from " + dir : "starts with the parameters in " + dir;
  }
}
