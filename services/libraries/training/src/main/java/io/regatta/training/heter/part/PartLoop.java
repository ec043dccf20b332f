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
    List<ComputedBatch> results;
    try {
      results = part.compute(work.batches());
    } catch (RegattaException e) {
      work.refused().accept(e);
      return;
    } catch (RuntimeException e) { // of the engine or the program's block; the trainer ends with it
      LOG.error("job {}: batch {} of trainer {} cannot be computed", job, work.batches().get(0).id().number(),
          work.batches().get(0).id().trainer().rank(), e);
      work.refused().accept(new InvalidInput("job " + job + ": the heter worker cannot compute the batch: " + e, e));
      return;
    }
    work.done().accept(results);
  }
}
