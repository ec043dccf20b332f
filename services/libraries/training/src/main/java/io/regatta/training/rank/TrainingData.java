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
 * Which data sets a trainer trains on, and what of them the run has behind it when it goes on from a snapshot: reading begins
 * at the place that the snapshot names, or, where it names none, the batches that were trained are read again and passed
 * over. Where workers have data of their own, one that has fewer waits at the end of a pass while the others make steps; from
 * the meeting there all count from the same step, so that a place is a pass and the steps since its beginning. Belongs to the
 * model thread.
 */
final class TrainingData {

  private final Set<Dataset> trained = Collections.newSetFromMap(new IdentityHashMap<>());
  private final int worker;
  private final int workers;
  /** Passes that are read in other parts than those which follow from the worker's number; null: none, or no more. */
  private UnfinishedPasses unfinished;
  /** Batches that are still to be passed over. */
  private long toPassOver;
  /** Whether that is over when the workers meet: none has more data before the meeting. */
  private boolean untilMeeting;
  /** Where reading goes on; null: where passes begin. */
  private DataCursor begin;
  /** The iteration that begins does so at a place in the middle of the pass. */
  private boolean withinPass;
  /** Iterations over training data so far, those that were behind the run as well. */
  private int passes;
  /** How many were behind the run at the last meeting between two passes, and the steps that all had made there. */
  private int metPasses;
  private long metSteps;
  /** Whether these two are known. */
  private boolean met = true;

  /**
   * The data of a run that begins.
   *
   * @param worker number of this replica among those of all ranks
   * @param workers replicas of all ranks
   */
  TrainingData(int worker, int workers) {
    this.worker = worker;
    this.workers = workers;
  }

  /**
   * Takes over how far the run was: the place that is the same for all, or else the worker's own, or else, where neither is known, its
   * share of the batches.
   */
  void goOn(StartingPoint start, int rank, int ranks) {
    begin = start.cursor();
    Optional<UnfinishedPasses> left = begin == null ? start.unfinished(workers) : Optional.empty();
    if (left.isPresent()) {
      resume(left.get());
      return;
    }
    toPassOver = start.batches(rank, ranks);
    if (begin != null) {
      met = begin.beginsPass() || begin.batches() > 0;
      metPasses = begin.pass();
      begin = begin.batches() > 0 ? DataCursor.behind(start.batchesBehindCursor(ranks), begin.pass()) : begin;
      metSteps = start.steps() - begin.batches();
    }
  }

  /** A worker that reads its own part, as before, passes over the beginning of that; others read what they are given. */
  private void resume(UnfinishedPasses left) {
    List<Part> mine = left.parts().get(worker);
    Part own = mine.get(0);
    met = false;
    if (mine.size() == 1 && own.part() == worker && own.stride() == 1 && (own.of() == 0 || own.of() == workers)) {
      begin = DataCursor.behind(own.batches(), own.pass());
      begin = own.batches() == 0 ? DataCursor.startOf(own.pass()) : begin;
    } else {
      unfinished = left;
      begin = DataCursor.startOf(left.first());
    }
  }

  /** Whether the program is at what was trained before the snapshot that the run goes on from. */
  boolean isBehind() {
    return begin != null || toPassOver > 0;
  }

  /**
   * All workers have met outside of steps, and go on from the same one.
   *
   * @param steps that all have made
   * @param between whether the last pass, if there was one, is over, or the next one has not begun
   */
  void met(long steps, boolean between) {
    if (begin == null && unfinished == null) {
      toPassOver = untilMeeting ? 0 : toPassOver;
      untilMeeting = false;
      if (between && toPassOver == 0) {
        met = true;
        metPasses = passes;
        metSteps = steps;
      }
    }
  }

  /** The data set is one for training. */
  void add(Dataset dataset) {
    trained.add(dataset);
  }

  /** Returns what a position of the job reads of the data sets that have been trained on; nothing of those that do not say. */
  List<DataShare> sharesOf(int position) {
    return trained.stream().filter(SlotDataset.class::isInstance).map(of -> ((SlotDataset) of).shareOf(position)).toList();
  }

  boolean has(Dataset dataset) {
    return trained.contains(dataset);
  }

  /** Nobody has said what is trained on: then it is what is iterated over first. */
  boolean isTraining(Dataset dataset) {
    return trained.isEmpty() || has(dataset);
  }

  /** Whether all workers read all of the data, and in order, so that where one of them is in a step says where all are. */
  private boolean isWhole(Dataset dataset) {
    return dataset instanceof SlotDataset slots && slots.options().shards() == workers && slots.resumesWithinPass();
  }

  /**
   * Where reading goes on behind the batch that is out of this iteration, where all workers make the same steps; null if that is not
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

  /** The same where data are each worker's own: batches since all met between two passes; null if that is not known. */
  DataCursor place(long steps) {
    return met ? DataCursor.behind(steps - metSteps, metPasses) : null;
  }

  /** Where reading goes on when all workers have read this iteration to its end, in any mode and order. */
  DataCursor behindPass() {
    return DataCursor.startOf(passes);
  }

  /** A pass begins over data that are dealt by others. */
  void beginPass(Dataset dataset) {
    add(dataset);
    passes++;
  }

  /** Whether a pass that begins is behind the run as a whole; if it is in part, reading will begin behind that. */
  boolean isBehind(Dataset dataset) {
    if (!isTraining(dataset)) {
      return false;
    }
    passes++;
    if (begin == null) {
      return false;
    }
    if (!begin.beginsPass() && begin.batches() == 0 && !isWhole(dataset)) {
      begin = null; // the place says nothing here: the batches are read again
      return false;
    }
    add(dataset);
    toPassOver = 0;
    if (passes <= begin.pass()) {
      if (dataset instanceof SlotDataset slots) {
        slots.leaveOut();
        return true;
      }
      toPassOver = Long.MAX_VALUE; // it may count its passes itself
      return false;
    }
    if (begin.batches() > 0) {
      toPassOver = begin.batches();
      untilMeeting = true;
    } else if (!begin.beginsPass()) {
      ((SlotDataset) dataset).resume(begin);
      withinPass = true; // the place does not say how many batches were before it
    }
    begin = null;
    return false;
  }

  /**
   * Passes over what was trained, where it has to be read again.
   *
   * @return number of batches
   */
  long passOver(Dataset dataset, Iterator<Batch> batches) {
    long passed = 0;
    if (toPassOver > 0 && isTraining(dataset)) {
      add(dataset);
      for (; toPassOver > 0 && batches.hasNext(); toPassOver--) {
        batches.next().close();
        passed++;
      }
    }
    return passed;
  }

  /**
   * The rest of a pass that has begun, where this worker reads other parts of it than its own; empty: it reads its own.
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
      throw new InvalidInput("worker " + worker + " of " + workers + " is to read the rest of parts that other workers read before the "
          + "snapshot was taken, but a " + dataset.getClass().getName() + " reads its own only; resume with as many trainers and threads "
          + "as before, or from a snapshot that was taken behind a pass");
    }
    List<Part> mine = unfinished.parts().get(worker);
    return Optional.of(new PartsOfPass(slots, mine.stream().filter(part -> part.pass() == pass).toList(),
        mine.stream().filter(part -> part.pass() > pass).toList()));
  }

  /**
   * What an iteration over training data takes its batches from.
   *
   * @param batches that are iterated over
   * @param passedOver of them
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
