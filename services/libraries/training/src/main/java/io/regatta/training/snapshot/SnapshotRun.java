package io.regatta.training.snapshot;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.loop.Stopwatch;
import io.regatta.data.DataCursor;
import io.regatta.snapshot.ExampleCounts;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.ManifestFile;
import io.regatta.snapshot.ModelLayout;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.snapshot.Snapshots;
import io.regatta.snapshot.WritablePlace;
import io.regatta.training.config.SnapshotConfig;
import io.regatta.training.session.TrainerSession;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a job's snapshots: has the shards fix the moment, which the model thread waits for, and, while they write and training goes
 * on, finishes the directory on a thread of its own when all have written. One at a time: the next waits for the one before. A
 * snapshot that fails is told of and leaves nothing; the job goes on. Belongs to one model thread of the rank that takes them.
 */
public final class SnapshotRun implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotRun.class);

  private final TrainerSession session;
  private final JobSpec spec;
  private final String run;
  private final SnapshotConfig config;
  private final Path root;
  private final SnapshotPlace place;
  private final TrainersPlaces places;
  private final ExecutorService finisher;
  private final SnapshotCounts counts;
  private final TrainersFiles trainersFiles;
  private final Supplier<ExampleCounts> examples;
  /** Of the one that is being written; completes normally with whether it is there. */
  private CompletableFuture<Boolean> underWay = CompletableFuture.completedFuture(true);
  /** Whether that is a base or a delta. */
  private boolean noted;
  /** The last base or delta, which the next delta is relative to; empty: the next one must be a base. */
  private String last = "";
  /** Since the last base. */
  private int deltas;

  /**
   * For a job's first replica.
   *
   * @param run what its snapshots are told from another run's by
   * @param counts hears of each snapshot
   * @param kept what this trainer keeps itself at the moment of one; asked on the model thread
   * @param examples of the run as this rank knows them at that moment; asked on the model thread
   */
  public SnapshotRun(TrainerSession session, JobSpec spec, String run, SnapshotCounts counts, Supplier<SnapshotState> kept,
      Supplier<ExampleCounts> examples) {
    this.session = session;
    this.spec = spec;
    this.run = run;
    this.counts = counts;
    this.examples = examples;
    config = session.job().snapshots();
    root = StartingPoint.root(session.job());
    place = new SnapshotPlace(root, spec.job(), run, config.keep());
    places = new TrainersPlaces(session, spec);
    trainersFiles = new TrainersFiles(session, root, writer(), kept);
    finisher = Executors.newSingleThreadExecutor(task -> {
      Thread thread = new Thread(task, "regatta-snapshot-" + spec.job());
      thread.setDaemon(true);
      return thread;
    });
  }

  /**
   * All ranks hand over what they keep themselves, for the snapshot that is taken next at this step, by this one's rank.
   *
   * @param own of this rank
   */
  public void handedOver(Map<String, float[]> own) {
    trainersFiles.handedOver(own);
  }

  /** The same of a rank that takes none. */
  public static void handOver(TrainerSession session, Map<String, float[]> own) {
    try {
      RankTensors.handOver(session, own, null);
    } catch (IOException e) {
      throw new IllegalStateException("nothing was to be written", e);
    }
  }

  /**
   * A step has been made after which a snapshot is to be taken.
   *
   * @param steps local steps of this rank
   * @param round sync: that comes next
   * @param after where reading goes on, if that is the same for all ranks; else null
   */
  public void stepped(long steps, long round, DataCursor after) {
    waitForTheLast();
    boolean batch = config.isBatchDue(steps);
    take(name(batch ? SnapshotKind.BATCH.label() : "step", steps), batch ? SnapshotKind.BATCH : next(), steps, round, -1,
        inSync(after));
  }

  /**
   * A pass is over, and everybody's pushes have been applied.
   *
   * @param after where reading goes on behind it, the same for all ranks; null if that is not known
   */
  public void passed(int pass, long steps, long round, DataCursor after) {
    waitForTheLast();
    take(String.format(Locale.ROOT, "pass-%05d", pass), next(), steps, round, pass, after);
  }

  /**
   * The program asks for one of this kind, and everybody's pushes have been applied. A delta that there is nothing for to be
   * relative to becomes a base.
   *
   * @param after where reading goes on, if that is the same for all ranks; else null
   * @throws InvalidInput if others than this run's own, or later ones, are where it is to be, or a server does not
   *     write there
   */
  public void asked(SnapshotKind wanted, long steps, long round, DataCursor after) {
    waitForTheLast();
    SnapshotKind kind = wanted == SnapshotKind.DELTA && last.isEmpty() ? SnapshotKind.BASE : wanted;
    String name = name(kind.label(), steps);
    if (!config.isOn()) { // else the start has seen to it
      place.requireNoOther(steps);
      session.await("consent of the servers to snapshots in " + root, session.admitSnapshots(root));
    }
    if (isNoted(kind) && Snapshots.find(root.resolve(name)).isPresent()) {
      LOG.info("{} of job {} is there, and no step has been made since", root.resolve(name), spec.job());
      trainersFiles.drop();
      return; // in its own place it would be a delta of itself
    }
    take(name, kind, steps, round, -1, inSync(after));
  }

  /** Within a pass, one rank's place is everybody's only where all make the same steps. */
  private DataCursor inSync(DataCursor place) {
    return spec.mode().hasRounds() ? place : null;
  }

  /** Told from other runs, and from lives of this rank, by. */
  private String writer() {
    return run + "-rank" + session.trainer().rank() + "-" + session.trainer().incarnation();
  }

  private static String name(String prefix, long steps) {
    return String.format(Locale.ROOT, "%s-%09d", prefix, steps);
  }

  /** What is taken next where the job says how many deltas follow a base. */
  private SnapshotKind next() {
    return config.deltas() == 0 ? SnapshotKind.FULL : last.isEmpty() || deltas >= config.deltas() ? SnapshotKind.BASE
        : SnapshotKind.DELTA;
  }

  private static boolean isNoted(SnapshotKind kind) {
    return kind == SnapshotKind.BASE || kind == SnapshotKind.DELTA;
  }

  /** Returns when the moment has been taken; nobody whose pushes are to be inside has made a later one, nor this rank. */
  private void take(String name, SnapshotKind kind, long steps, long round, int pass, DataCursor after) {
    boolean delta = kind == SnapshotKind.DELTA;
    String what = "snapshot " + root.resolve(name) + " of job " + spec.job();
    String parent = delta ? last : "";
    String parentChecksum;
    noted = isNoted(kind);
    if (noted) {
      last = "";
    }
    SnapshotDirectory dir = SnapshotDirectory.of(root.resolve(name), writer());
    TrainerSession.Saving saving;
    List<FileEntry> own;
    Stopwatch taking = Stopwatch.start(session.clock());
    try {
      place.requireOwn(root.resolve(name));
      parentChecksum = delta ? ManifestFile.checksum(root.resolve(parent)) : "";
      dir.begin();
      own = trainersFiles.write(dir.part());
      saving = session.await(what, session.save(new TrainerSession.SaveOrder(dir.part(), round, kind)));
    } catch (Cancelled e) {
      throw e;
    } catch (RegattaException | IOException e) {
      failed(what, e);
      discard(dir);
      return;
    } finally {
      trainersFiles.drop();
    }
    ExampleCounts trained = examples.get();
    JsonObject cursor = after != null ? JsonObject.mapFrom(after) : new JsonObject();
    underWay = saving.written().handleAsync((files, e) -> {
      try {
        if (e != null) {
          throw e;
        }
        TrainersPlaces.At at = places.at(dir.part(), files, steps, round, cursor, trained);
        dir.publish(new Manifest(spec.job(), run, spec.mode().id(), kind, steps, pass, at.version(),
            at.updates(), at.fuzzy(), at.examples(), parent, parentChecksum, ModelLayout.of(spec), at.trainers(), files,
            own).toJson(), false);
        long bytes = Stream.concat(files.stream(), own.stream()).mapToLong(FileEntry::bytes).sum();
        counts.taken(steps, bytes, taking.nanos());
        place.removeOlder();
        LOG.info("{}: {}, {} bytes", what, kind.label(), bytes);
        return true;
      } catch (Throwable failure) { // whatever it is, the job goes on without this one
        failed(what, failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure);
        discard(dir);
        return false;
      }
    }, finisher);
    if (noted) {
      last = name;
      deltas = delta ? deltas + 1 : 0;
    }
  }

  private void failed(String what, Throwable e) {
    counts.failed();
    String why = e instanceof IOException io ? WritablePlace.reason(io) : e.getMessage();
    LOG.warn("{} has failed, the job goes on: {}", what, why);
  }

  private static void discard(SnapshotDirectory dir) {
    try {
      dir.discard();
    } catch (IOException e) {
      LOG.warn("{} could not be removed: {}", dir.part(), e.toString());
    }
  }

  private void waitForTheLast() {
    if (!session.await("the snapshot before this one", underWay) && noted) {
      last = ""; // of a delta that failed some shards may have forgotten what it was to hold
    }
    underWay = CompletableFuture.completedFuture(true);
  }

  /** Returns when what is being written is there, or has failed. */
  public void finish() {
    waitForTheLast();
  }

  /** Takes no more; what is being written goes on to its end, and is finished, or removed, on the thread for that. */
  @Override
  public void close() {
    underWay.whenComplete((there, e) -> finisher.shutdown());
  }
}
