package io.regatta.training.heter.part;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.training.heter.PartHost;
import io.regatta.training.session.TrainerSession;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The loop of a heter worker's model thread: it computes batch after batch, in the order in which its host gives them.
 * Belongs to that thread.
 */
public final class PartLoop {

  /** The end of a job, at a heter worker whose program would train next. */
  public static final class Ended extends RuntimeException {
    private static final long serialVersionUID = 1;

    Ended(String job) {
      super("job " + job + " has ended, and with it the work of its heter worker");
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(PartLoop.class);

  private PartLoop() {}

  /**
   * Computes batches until the job has ended; does not return.
   *
   * @throws Ended then
   */
  public static void run(TrainerSession session, PartHost host, PartModel part) {
    String job = session.job().job();
    try (part) {
      host.ready(part.signature(), part.isGatherable());
      while (true) {
        Optional<PartHost.PartWork> work = session.await("batches of trainers of job " + job, host.next());
        if (work.isEmpty()) {
          throw new Ended(job);
        }
        compute(job, part, work.get());
      }
    }
  }

  private static void compute(String job, PartModel part, PartHost.PartWork work) {
    RegattaException refusal;
    try {
      List<ComputedBatch> results = part.compute(work.batches());
      if (results.size() == 1 || results.stream().allMatch(PartLoop::isFinite)) {
        work.done().accept(results);
        return;
      }
      refusal = null;
    } catch (RegattaException e) {
      refusal = e;
    } catch (RuntimeException e) { // of the engine or the program's block; the trainer ends with it
      LOG.error("job {}: batch {} of trainer {} cannot be computed", job, work.batches().get(0).id().number(),
          work.batches().get(0).id().trainer().rank(), e);
      refusal = new InvalidInput("job " + job + ": the heter worker cannot compute the batch: " + e, e);
    }
    if (work.batches().size() == 1) {
      work.refused().accept(refusal);
    } else { // one of them may be the cause, and the others are not to suffer from it
      work.alone().get().forEach(one -> compute(job, part, one));
    }
  }

  /** Returns false if the loss over all batches that were computed as one is NaN or infinite. */
  private static boolean isFinite(ComputedBatch result) {
    return !result.head().getGathered() || Double.isFinite(result.head().getLoss());
  }
}
