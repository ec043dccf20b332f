package io.regatta.training.rank;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.training.dataset.SlotDataset;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The rest of a pass that another number of replicas had begun, as far as this replica reads it. Belongs to the model
 * thread.
 *
 * @param now parts of the pass, read one after another
 * @param later parts of the passes after it
 */
record PartsOfPass(SlotDataset dataset, List<Part> now, List<Part> later) {

  /** Begins the pass and returns its batches. */
  Batches batches(NDManager manager) {
    return new Batches(this, dataset.parts(manager, now));
  }

  /** The batches of all parts, one part after another. */
  static final class Batches implements Iterable<Batch>, DataParts {

    private final PartsOfPass of;
    private final List<Iterable<Batch>> parts;
    /** Batches that have been read, by part. */
    private final long[] read;

    private Batches(PartsOfPass of, List<Iterable<Batch>> parts) {
      this.of = of;
      this.parts = parts;
      read = new long[parts.size()];
    }

    @Override
    public Iterator<Batch> iterator() {
      return new Iterator<>() {
        private int part = -1;
        private Iterator<Batch> batches = List.<Batch>of().iterator();

        @Override
        public boolean hasNext() {
          while (!batches.hasNext() && part + 1 < parts.size()) {
            part++;
            batches = parts.get(part).iterator();
          }
          return batches.hasNext();
        }

        @Override
        public Batch next() {
          hasNext();
          Batch next = batches.next();
          read[part]++;
          return next;
        }
      };
    }

    @Override
    public List<Part> after(long taken) {
      List<Part> left = new ArrayList<>();
      long more = taken;
      for (int i = 0; i < read.length; i++) {
        long ofPart = Math.min(more, read[i]);
        more -= ofPart;
        left.add(of.now.get(i).after(ofPart));
      }
      left.addAll(of.later);
      return left;
    }
  }
}
