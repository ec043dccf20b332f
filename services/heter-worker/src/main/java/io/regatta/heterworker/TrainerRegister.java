package io.regatta.heterworker;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.TrainerId;
import io.regatta.heterworker.dense.DenseExchange;
import io.regatta.training.config.JobConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The register of the trainers that a heter worker serves. It knows the newest life of each rank, whichever of its
 * streams has come first, and ends the streams of lives that are over. Owned by the verticle's event loop.
 */
final class TrainerRegister implements TrainersEnd.Losses, DenseExchange.Admission {

  /** Streams of one kind. */
  interface Streams {

    /** Ends the streams of a life and of its older ones: a later life has come. */
    void replaced(TrainerId former, StaleGeneration why);

    /** Ends the streams of a life and of its older ones: it is lost. */
    void lost(TrainerId life, StaleGeneration why);
  }

  private final JobConfig job;
  private final String name;
  private final int maxTrainers;
  private final List<Streams> streams = new ArrayList<>();
  /** The newest incarnation of each rank that has come. */
  private final Map<Integer, Long> incarnations = new HashMap<>();
  /** Number of admissions of each rank that have not ended. */
  private final Map<Integer, Integer> admissions = new HashMap<>();
  /** Why no trainer is served any more; null: they are. */
  private RegattaException closed;

  /**
   * Creates a register without trainers.
   *
   * @param name of the heter worker, for messages
   * @param maxTrainers trainers at a time
   */
  TrainerRegister(JobConfig job, String name, int maxTrainers) {
    this.job = job;
    this.name = name;
    this.maxTrainers = maxTrainers;
  }

  /** Adds streams that end with their trainers' lives. Called before the first trainer comes. */
  void add(Streams kind) {
    streams.add(kind);
  }

  @Override
  public Runnable admit(TrainerId trainer) {
    int rank = trainer.rank();
    if (closed != null) {
      throw closed;
    }
    if (rank < 0 || !job.worldSize().elastic() && rank >= job.trainers()) {
      throw new InvalidInput("trainer " + rank + " is none of the " + job.trainers() + " trainers of job " + job.job());
    }
    long newest = incarnations.getOrDefault(rank, trainer.incarnation());
    if (trainer.incarnation() < newest) {
      throw new StaleGeneration("trainer " + rank + " of job " + job.job()
          + " has been replaced by a later life of its rank");
    }
    if (!admissions.containsKey(rank) && admissions.size() >= maxTrainers) {
      throw new Overloaded(name + " serves " + admissions.size() + " trainers, the limit "
          + "(heter_worker.limits.trainers); start more heter workers, or raise it");
    }
    incarnations.put(rank, trainer.incarnation());
    if (trainer.incarnation() > newest) {
      StaleGeneration why = new StaleGeneration("trainer " + rank + " of job " + job.job()
          + " has opened another stream, in a later life");
      streams.forEach(kind -> kind.replaced(new TrainerId(rank, newest), why));
    }
    admissions.merge(rank, 1, Integer::sum);
    return () -> admissions.computeIfPresent(rank, (r, count) -> count == 1 ? null : count - 1);
  }

  @Override
  public void lost(TrainerId life) {
    StaleGeneration why = new StaleGeneration("trainer " + life.rank() + " of job " + job.job()
        + " was declared lost by the rendezvous; join the group again");
    streams.forEach(kind -> kind.lost(life, why));
  }

  /** Returns true if no trainer has come. */
  boolean isEmpty() {
    return incarnations.isEmpty();
  }

  /** Refuses all trainers from now on. */
  void close(RegattaException reason) {
    closed = closed == null ? reason : closed;
  }

  /** Returns true once all trainers are refused. */
  boolean isClosed() {
    return closed != null;
  }
}
