package io.regatta.trainer.djl;

import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import io.regatta.trainer.data.DataCursor;
import io.regatta.trainer.data.SlotDataset;
import io.regatta.trainer.snapshot.StartingPoint;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Set;

/**
 * Which data sets a trainer trains on, and what of them the run has behind it when it goes on from a snapshot: reading begins
 * at the place that the snapshot names, or, where it names none, the batches that were trained are read again and passed
 * over. Belongs to the model thread.
 */
final class TrainingData {

  private final Set<Dataset> trained = Collections.newSetFromMap(new IdentityHashMap<>());
  private final int workers;
  /** Batches that are still to be passed over. */
  private long toPassOver;
  /** Where reading goes on; null: where passes begin. */
  private DataCursor begin;
  /** Iterations over training data so far, those that were behind the run as well. */
  private int passes;

  /** @param workers replicas of all ranks */
  TrainingData(int workers) {
    this.workers = workers;
  }

  /** Takes over how far the run was. */
  void goOn(StartingPoint start, int rank, int ranks) {
    toPassOver = start.batches(rank, ranks);
    begin = start.cursor();
  }

  /** The data set is one for training. */
  void add(Dataset dataset) {
    trained.add(dataset);
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

  /** Where reading goes on behind the batch that is out of this iteration, if that is the same for all workers; else null. */
  DataCursor after(Dataset dataset, LookAhead iteration) {
    return iteration != null && isWhole(dataset) ? iteration.after() : null;
  }

  /** Where reading goes on when all workers have read this iteration to its end, in any mode and order; null if that is not known. */
  DataCursor behindPass(Dataset dataset) {
    return dataset instanceof SlotDataset ? DataCursor.startOf(passes) : null;
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
    if (begin == null || !(dataset instanceof SlotDataset slots) || !begin.beginsPass() && !isWhole(dataset)) {
      return false;
    }
    add(dataset);
    toPassOver = 0;
    if (passes <= begin.pass()) {
      slots.leaveOut();
      return true;
    }
    if (!begin.beginsPass()) {
      slots.resume(begin);
    }
    begin = null;
    return false;
  }

  /** Passes over what was trained, where it has to be read again. */
  void passOver(Dataset dataset, Iterator<Batch> batches) {
    if (toPassOver > 0 && isTraining(dataset)) {
      add(dataset);
      for (; toPassOver > 0 && batches.hasNext(); toPassOver--) {
        batches.next().close();
      }
    }
  }
}
