package io.regatta.trainer.snapshot;

import io.regatta.core.data.UnfinishedPasses;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerStart;
import io.regatta.snapshot.ExampleCounts;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.PaddleTables;
import io.regatta.snapshot.SnapshotChain;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.snapshot.SnapshotRemoval;
import io.regatta.snapshot.Snapshots;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.data.DataCursor;
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
 * Where a run begins: with values of its own, with those of another run ({@code init_from}), or where it stopped ({@code
 * resume}). A function of the job and of what is on disk, so that all ranks find the same. Immutable.
 *
 * @param dir of the snapshot, or of Paddle's tables; null: none, the run begins with values of its own
 * @param manifest of the snapshot; null if there is none
 * @param resume whether steps go on from there
 */
public record StartingPoint(Path dir, Manifest manifest, boolean resume) {

  private static final Logger LOG = LoggerFactory.getLogger(StartingPoint.class);
  private static final String AUTO = "auto";

  /** A run of its own. */
  public static StartingPoint none() {
    return new StartingPoint(null, null, false);
  }

  /**
   * What the job says. Blocks on files.
   *
   * @throws InvalidInput if what it names is not there, or is no snapshot, or it is not known which one is the last
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
      throw new InvalidInput("job " + job.job() + ": what it is to begin with cannot be read: " + e, e);
    }
  }

  /** A snapshot with all that it is relative to. */
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

  /** Where the job's snapshots are. */
  public static Path root(JobConfig job) {
    return plain(job.snapshots().dir().isBlank() ? job.output() : job.snapshots().dir());
  }

  /** Servers compare the names that they are given with those of their roots, part by part. */
  private static Path plain(String name) {
    return Path.of(name).toAbsolutePath().normalize();
  }

  /**
   * Returns the directories in which the job's snapshots are written, and from which it begins: those below which its
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

  /** Returns the directory that holds a delta and what it is relative to; another snapshot itself. Blocks on files. */
  private static Path withParents(Path snapshot) {
    return Snapshots.find(snapshot).filter(found -> found.manifest().kind() == SnapshotKind.DELTA)
        .map(delta -> snapshot.getParent()).orElse(snapshot);
  }

  /** Returns the directory in which the job's servers write from its beginning, or none: a program may still ask. */
  public static List<Path> written(JobConfig job) {
    boolean wanted = job.snapshots().isOn() || !job.snapshots().dir().isBlank();
    return job.hasPlace() && wanted ? List.of(root(job)) : List.of();
  }

  /** Returns the directories that the job names as those from which its servers read; {@code auto} names none. */
  public static List<Path> read(JobConfig job) {
    return Stream.of(job.resume(), job.initFrom()).filter(name -> !name.isBlank() && !name.equals(AUTO))
        .map(StartingPoint::plain).toList();
  }

  /**
   * What has kept the run from going on from its snapshot, with the way on if that is damaged: which one before it is
   * whole, and how to use it. Then reads all of these; blocks on files.
   *
   * @param e what the servers said
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
        + " (step " + found.manifest().step() + "): to go on from there set resume: " + found.dir() + ", and remove, or "
        + "move away, " + later).orElse("No whole one is before it in " + dir.getParent() + ": begin anew, without resume, "
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
   * Sees that the place of the job's snapshots has none that would be mixed with this run's: of another run, or of steps that
   * it has not made yet. Blocks on files.
   *
   * @throws InvalidInput naming the one and what to do
   */
  public void refuseOthersIn(Path root) throws IOException {
    for (Snapshots.Found there : Snapshots.list(root)) {
      if (!resume || !there.manifest().run().equals(manifest.run()) || manifest.isBefore(there.manifest())) {
        throw new InvalidInput(root + " holds snapshot " + there.dir().getFileName() + " of job " + there.manifest().job()
            + (resume ? ", which is not one that the run has made before " + dir : ", and this run begins anew")
            + "; go on from the last one with resume: auto, or name another snapshots.dir (or output), or remove those in there");
      }
    }
  }

  /**
   * Removes what killed runs, and lives of this one before this, have begun to write where the job's snapshots are. For one rank,
   * before any of them makes a step. Blocks on files.
   */
  public void removeLeft(JobConfig job) {
    try {
      SnapshotRemoval.left(root(job), resume ? manifest.run() : "");
    } catch (IOException e) {
      LOG.warn("what killed runs have left in {} could not be removed: {}", root(job), e.toString());
    }
  }

  /** Whether there is something to be read. */
  public boolean isGiven() {
    return dir != null;
  }

  /** Returns the local steps of the rank that took the snapshot: by which ranks see that they have the same one; 0 without one. */
  public long steps() {
    return resume ? manifest.step() : 0;
  }

  /** Returns the examples that the run has trained in its lives before this one. */
  public ExampleCounts examples() {
    return resume ? manifest.examples() : ExampleCounts.NONE;
  }

  /**
   * Returns the place of the run as the shards are to keep it.
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

  /** Steps that all have made, in modes with rounds; in the others the furthest schedule. */
  private long round() {
    return manifest.trainers().stream().mapToLong(t -> t.progress().learningRateStep()).max().orElse(manifest.step());
  }

  /** A trainer resumes from its own progress; where their number is another one, each from the mean of all. */
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

  /** Version 1 counts steps where the shards count pushes. */
  private boolean isVersion1() {
    return manifest.trainers().stream().allMatch(t -> t.progress().replicas().isEmpty());
  }

  /**
   * Returns what is left of the passes that were under way, divided among so many replicas of all ranks; empty if it is not known, as in
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
   * Returns batches of its training data that a trainer has behind it, where places in the data are not known. With another number of
   * trainers each has its share of all that has been trained.
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

  /** Where reading of training data goes on, the same for all ranks; null if the snapshot does not say. */
  public DataCursor cursor() {
    if (!resume || manifest.trainers().isEmpty() || manifest.trainers().get(0).cursor().isEmpty()) {
      return null;
    }
    return manifest.trainers().get(0).cursor().mapTo(DataCursor.class);
  }

  /** Batches behind that place which each of so many trainers has to pass over; with another number, its share. */
  public long batchesBehindCursor(int trainers) {
    DataCursor cursor = cursor();
    return cursor == null ? 0 : cursor.batches() * manifest.trainers().size() / trainers;
  }

  /** For the log. */
  public String describe() {
    return resume ? "goes on at step " + steps() + " from " + dir : "begins with the parameters in " + dir;
  }
}
