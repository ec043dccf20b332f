package io.regatta.training.rank;

import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import io.regatta.core.data.UnfinishedPasses;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.data.DataCursor;
import io.regatta.data.DataShare;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.snapshot.StartingPoint;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The data sets on which a trainer trains, and how much of them has been trained when the run resumes from a snapshot.
 * Reading begins at the cursor in the snapshot; without a cursor, the batches that were trained are read again and
 * skipped. Belongs to the model thread.
 *
 * <p>If workers have data of their own, a worker with fewer batches waits at the end of a pass while the others make
 * steps. After they have met there, all count from the same step, so that a position is a pass and the steps since its
 * beginning.
 */
final class TrainingData {

  private final Set<Dataset> trained = Collections.newSetFromMap(new IdentityHashMap<>());
  private final int worker;
  private final int workers;
  /** Passes that are read in parts other than those of the worker's number; null if there are none, or no more. */
  private UnfinishedPasses unfinished;
  /** Batches that are still to be skipped. */
  private long toSkip;
  /** True if skipping ends when the workers meet, because none has more data before that. */
  private boolean untilMeeting;
  /** The cursor from which reading resumes; null: passes are read from their beginning. */
  private DataCursor begin;
  /** True if the iteration that begins does so in the middle of the pass. */
  private boolean withinPass;
  /** Iterations over training data so far, including those trained before the run resumed. */
  private int passes;
  /** Passes read at the last meeting between two passes, and the steps that all had made then. */
  private int metPasses;
  private long metSteps;
  /** True if these two are known. */
  private boolean meetingKnown = true;

  /**
   * Creates the data of a new run.
   *
   * @param worker number of this replica among those of all ranks
   * @param workers replicas of all ranks
   */
  TrainingData(int worker, int workers) {
    this.worker = worker;
    this.workers = workers;
  }

  /**
   * Restores the position of a run: the cursor that is the same for all, or else the worker's own, or else its share of
   * the batches.
   */
  void resume(StartingPoint start, int rank, int ranks) {
    begin = start.cursor();
    Optional<UnfinishedPasses> left = begin == null ? start.unfinished(workers) : Optional.empty();
    if (left.isPresent()) {
      resumeUnfinished(left.get());
      return;
    }
    toSkip = start.batches(rank, ranks);
    if (begin != null) {
      meetingKnown = begin.beginsPass() || begin.batches() > 0;
      metPasses = begin.pass();
      begin = begin.batches() > 0 ? DataCursor.behind(start.batchesBehindCursor(ranks), begin.pass()) : begin;
      metSteps = start.steps() - begin.batches();
    }
  }

  /**
   * Resumes an unfinished pass. A worker that reads its own part, as before, skips the beginning of that part; others
   * read the parts assigned to them.
   */
  private void resumeUnfinished(UnfinishedPasses left) {
    List<Part> mine = left.parts().get(worker);
    Part own = mine.get(0);
    meetingKnown = false;
    if (mine.size() == 1 && own.part() == worker && own.stride() == 1 && (own.of() == 0 || own.of() == workers)) {
      begin = DataCursor.behind(own.batches(), own.pass());
      begin = own.batches() == 0 ? DataCursor.startOf(own.pass()) : begin;
    } else {
      unfinished = left;
      begin = DataCursor.startOf(left.first());
    }
  }

  /** Returns true while the program is at data that were trained before the snapshot from which the run resumes. */
  boolean isBehind() {
    return begin != null || toSkip > 0;
  }

  /**
   * Notes that all workers have met outside of steps, and continue from the same one.
   *
   * @param steps that all have made
   * @param between true if the last pass, if any, is over, and the next one has not begun
   */
  void onMeeting(long steps, boolean between) {
    if (begin == null && unfinished == null) {
      toSkip = untilMeeting ? 0 : toSkip;
      untilMeeting = false;
      if (between && toSkip == 0) {
        meetingKnown = true;
        metPasses = passes;
        metSteps = steps;
      }
    }
  }

  /** Adds a data set for training. */
  void add(Dataset dataset) {
    trained.add(dataset);
  }

  /**
   * Returns the partitions that a position of the job reads of the data sets that have been trained on, as far as they
   * know them.
   */
  List<DataShare> sharesOf(int position) {
    return trained.stream().filter(SlotDataset.class::isInstance).map(of -> ((SlotDataset) of).shareOf(position)).toList();
  }

  boolean has(Dataset dataset) {
    return trained.contains(dataset);
  }

  /** Returns true if the data set is trained on. If none was declared, the first one that is iterated over is. */
  boolean isTraining(Dataset dataset) {
    return trained.isEmpty() || has(dataset);
  }

  /** Returns true if all workers read all of the data in order, so that the position of one of them is that of all. */
  private boolean isWhole(Dataset dataset) {
    return dataset instanceof SlotDataset slots && slots.options().shards() == workers && slots.resumesWithinPass();
  }

  /**
   * Returns the cursor after the current batch of this iteration, if all workers make the same steps; null if it is not
   * known.
   *
   * @param steps that have been made
   */
  DataCursor after(LookAhead iteration, long steps) {
    if (iteration != null && isWhole(iteration.dataset())) {
      return iteration.after();
    }
    return place(steps);
  }

  /**
   * Returns the cursor if data are each worker's own: batches since all met between two passes; null if that is not
   * known.
   */
  DataCursor place(long steps) {
    return meetingKnown ? DataCursor.behind(steps - metSteps, metPasses) : null;
  }

  /** Returns the cursor after all workers have read this iteration to its end, in any mode and order. */
  DataCursor behindPass() {
    return DataCursor.startOf(passes);
  }

  /** Begins a pass over data that are assigned by the ledger. */
  void beginPass(Dataset dataset) {
    add(dataset);
    passes++;
  }

  /**
   * Begins a pass; returns true if all of it was trained before the run resumed. If some of it was, reading begins
   * after that.
   */
  boolean isBehind(Dataset dataset) {
    if (!isTraining(dataset)) {
      return false;
    }
    passes++;
    if (begin == null) {
      return false;
    }
    if (!begin.beginsPass() && begin.batches() == 0 && !isWhole(dataset)) {
      begin = null; // the cursor does not apply here: the batches are read again
      return false;
    }
    add(dataset);
    toSkip = 0;
    if (passes <= begin.pass()) {
      if (dataset instanceof SlotDataset slots) {
        slots.leaveOut();
        return true;
      }
      toSkip = Long.MAX_VALUE; // it may count its passes itself
      return false;
    }
    if (begin.batches() > 0) {
      toSkip = begin.batches();
      untilMeeting = true;
    } else if (!begin.beginsPass()) {
      ((SlotDataset) dataset).resume(begin);
      withinPass = true; // the cursor does not say how many batches precede it
    }
    begin = null;
    return false;
  }

  /**
   * Skips what was trained, if it has to be read again.
   *
   * @return number of batches
   */
  long skipTrained(Dataset dataset, Iterator<Batch> batches) {
    long passed = 0;
    if (toSkip > 0 && isTraining(dataset)) {
      add(dataset);
      for (; toSkip > 0 && batches.hasNext(); toSkip--) {
        batches.next().close();
        passed++;
      }
    }
    return passed;
  }

  /**
   * Returns the rest of a pass that has begun, if this worker reads other parts of it than its own; empty if it reads
   * its own.
   *
   * @throws InvalidInput if the data set cannot read those
   */
  Optional<PartsOfPass> rest(Dataset dataset) {
    int pass = passes - 1;
    if (unfinished == null || !isTraining(dataset)) {
      return Optional.empty();
    }
    if (pass > unfinished.last()) {
      unfinished = null;
      return Optional.empty();
    }
    if (!(dataset instanceof SlotDataset slots) || !slots.canReadParts()) {
      throw new InvalidInput("worker " + worker + " of " + workers + " must read the rest of parts that other workers read before the "
          + "snapshot was taken, but a " + dataset.getClass().getName() + " reads its own only; resume with as many trainers and threads "
          + "as before, or from a snapshot that was taken after a pass");
    }
    List<Part> mine = unfinished.parts().get(worker);
    return Optional.of(new PartsOfPass(slots, mine.stream().filter(part -> part.pass() == pass).toList(),
        mine.stream().filter(part -> part.pass() > pass).toList()));
  }

  /**
   * Returns the parts from which an iteration over training data takes its batches.
   *
   * @param batches that are iterated over
   * @param passedOver number of them that were skipped
   */
  DataParts parts(Dataset dataset, Iterable<Batch> batches, long passedOver) {
    if (batches instanceof PartsOfPass.Batches rest) {
      return rest;
    }
    if (withinPass) {
      withinPass = false;
      return taken -> List.of();
    }
    boolean shared = dataset instanceof SlotDataset slots && slots.canReadParts() && slots.options().shards() == workers;
    Part own = new Part(Math.max(0, passes - 1), worker, shared ? workers : 0, passedOver);
    return taken -> List.of(own.after(taken));
  }
}
