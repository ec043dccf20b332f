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
 * The taker of a job's snapshots. It has the shards capture their state, for which the model thread waits. While they
 * write and training continues, it finishes the directory on a thread of its own when all have written. One snapshot is
 * taken at a time: the next waits for the one before. A snapshot that fails is logged and leaves no files; the job
 * continues. Belongs to one model thread of the rank that takes them.
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
  /** The snapshot that is being written; completes normally, with true if it exists. */
  private CompletableFuture<Boolean> underWay = CompletableFuture.completedFuture(true);
  /** True if that is a base or a delta. */
  private boolean noted;
  /** The last base or delta, to which the next delta is relative; empty: the next one must be a base. */
  private String last = "";
  /** Deltas since the last base. */
  private int deltas;

  /**
   * Creates the taker of a job's first replica.
   *
   * @param run id that distinguishes its snapshots from another run's
   * @param counts of the snapshots
   * @param kept returns this trainer's own state at a snapshot; called on the model thread
   * @param examples returns the examples of the run as this rank knows them then; called on the model thread
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
   * Receives the own state of all ranks for the next snapshot, at this step, on the rank that takes it.
   *
   * @param own of this rank
   */
  public void handedOver(Map<String, float[]> own) {
    trainersFiles.handedOver(own);
  }

  /** Sends the own state of a rank that takes no snapshot. */
  public static void handOver(TrainerSession session, Map<String, float[]> own) {
    try {
      RankTensors.handOver(session, own, null);
    } catch (IOException e) {
      throw new IllegalStateException("nothing was to be written", e);
    }
  }

  /**
   * Takes a snapshot after a step.
   *
   * @param steps local steps of this rank
   * @param round sync: the next round
   * @param after cursor from which reading resumes, if it is the same for all ranks; else null
   */
  public void stepped(long steps, long round, DataCursor after) {
    waitForTheLast();
    boolean batch = config.isBatchDue(steps);
    take(name(batch ? SnapshotKind.BATCH.label() : "step", steps), batch ? SnapshotKind.BATCH : next(), steps, round, -1,
        inSync(after));
  }

  /**
   * Takes a snapshot after a pass; all ranks' pushes have been applied.
   *
   * @param after cursor after it, the same for all ranks; null if that is not known
   */
  public void passed(int pass, long steps, long round, DataCursor after) {
    waitForTheLast();
    take(String.format(Locale.ROOT, "pass-%05d", pass), next(), steps, round, pass, after);
  }

  /**
   * Takes a snapshot that the program requests; all ranks' pushes have been applied. A delta without an earlier base
   * becomes a base.
   *
   * @param after cursor from which reading resumes, if it is the same for all ranks; else null
   * @throws InvalidInput if the directory has snapshots of another run, or later ones, or a server may not write there
   */
  public void asked(SnapshotKind wanted, long steps, long round, DataCursor after) {
    waitForTheLast();
    SnapshotKind kind = wanted == SnapshotKind.DELTA && last.isEmpty() ? SnapshotKind.BASE : wanted;
    String name = name(kind.label(), steps);
    if (!config.isOn()) { // otherwise the start has checked it
      place.requireNoOther(steps);
      session.await("consent of the servers to snapshots in " + root, session.admitSnapshots(root));
    }
    if (isNoted(kind) && Snapshots.find(root.resolve(name)).isPresent()) {
      LOG.info("{} of job {} exists, and no step has been made since", root.resolve(name), spec.job());
      trainersFiles.drop();
      return; // in its own place it would be a delta of itself
    }
    take(name, kind, steps, round, -1, inSync(after));
  }

  /** Returns a cursor within a pass, which is that of all ranks only if all make the same steps. */
  private DataCursor inSync(DataCursor place) {
    return spec.mode().hasRounds() ? place : null;
  }

  /** Returns the name of the writer, which distinguishes runs and incarnations of this rank. */
  private String writer() {
    return run + "-rank" + session.trainer().rank() + "-" + session.trainer().incarnation();
  }

  private static String name(String prefix, long steps) {
    return String.format(Locale.ROOT, "%s-%09d", prefix, steps);
  }

  /** Returns the kind of the next snapshot, by the job's number of deltas after a base. */
  private SnapshotKind next() {
    return config.deltas() == 0 ? SnapshotKind.FULL : last.isEmpty() || deltas >= config.deltas() ? SnapshotKind.BASE
        : SnapshotKind.DELTA;
  }

  private static boolean isNoted(SnapshotKind kind) {
    return kind == SnapshotKind.BASE || kind == SnapshotKind.DELTA;
  }

  /**
   * Takes a snapshot; returns when the state has been captured. Neither this rank nor another whose pushes it contains
   * has made a later push.
   */
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
    String features = session.features().digest();
    JsonObject cursor = after != null ? JsonObject.mapFrom(after) : new JsonObject();
    underWay = saving.written().handleAsync((files, e) -> {
      try {
        if (e != null) {
          throw e;
        }
        TrainersPlaces.At at = places.at(dir.part(), files, steps, round, cursor, trained);
        dir.publish(new Manifest(spec.job(), run, spec.mode().id(), kind, steps, pass, at.version(),
            at.updates(), at.fuzzy(), at.examples(), parent, parentChecksum, ModelLayout.of(spec), at.trainers(), files,
            features, own).toJson(), false);
        long bytes = Stream.concat(files.stream(), own.stream()).mapToLong(FileEntry::bytes).sum();
        counts.taken(steps, bytes, taking.nanos());
        place.removeOlder();
        LOG.info("{}: {}, {} bytes", what, kind.label(), bytes);
        return true;
      } catch (Throwable failure) { // the job continues without this snapshot
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
    LOG.warn("{} has failed, the job continues: {}", what, why);
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
      last = ""; // after a failed delta some shards may have lost the list of changed rows
    }
    underWay = CompletableFuture.completedFuture(true);
  }

  /** Waits until the snapshot that is being written is complete, or has failed. */
  public void finish() {
    waitForTheLast();
  }

  /** Stops taking snapshots; one that is being written continues, and is finished, or removed, on its thread. */
  @Override
  public void close() {
    underWay.whenComplete((there, e) -> finisher.shutdown());
  }
}
