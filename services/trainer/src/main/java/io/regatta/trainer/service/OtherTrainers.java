package io.regatta.trainer.service;

import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.session.DepartedTrainer;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one trainer says about the others of its job: one warning for each that is lost or leaves before the end, from
 * the group's view at the rendezvous. Owned by {@link TrainerVerticle}, on its event loop.
 */
final class OtherTrainers {

  private static final Logger LOG = LoggerFactory.getLogger(OtherTrainers.class);
  private static final String ACTIVE = "active";
  private static final String LEFT = "left";

  private final JobConfig job;
  private final IntSupplier self;
  private final LongSupplier lastStep;
  /** Ranks that were told to be held by nobody; without those that have left at the end. */
  private final Set<Integer> gone = new HashSet<>();
  /** Of those, how far the ones were that a view has told. */
  private final Map<Integer, DepartedTrainer> departed = new TreeMap<>();
  /** The same as {@link #gone}, with those that have left at the end. */
  private final Set<Integer> free = new HashSet<>();
  private final Promise<Void> becomesLowest = Promise.promise();
  /** Read by any thread. */
  private volatile boolean lowest;
  private boolean ending;
  private boolean over;

  /**
   * @param self this trainer's rank
   * @param lastStep the last step that this trainer has made, -1 if none
   */
  OtherTrainers(JobConfig job, IntSupplier self, LongSupplier lastStep) {
    this.job = job;
    this.self = self;
    this.lastStep = lastStep;
  }

  /**
   * Tells what a view of the group has that the ones before it had not.
   *
   * @param leaseMillis how long the rendezvous waits for a heartbeat before it declares a loss
   */
  void seen(GroupView view, long leaseMillis) {
    long active = view.getMembersList().stream().filter(m -> m.getState().equals(ACTIVE)).count();
    for (Member m : view.getMembersList()) {
      if (m.getState().equals(ACTIVE)) {
        free.remove(m.getRank());
      } else {
        free.add(m.getRank());
      }
      if (m.getRank() == self.getAsInt() || ending && m.getState().equals(LEFT)) {
        continue; // at the end everybody leaves, and who has come there is known from the last gather
      }
      if (m.getState().equals(ACTIVE)) {
        departed.remove(m.getRank());
        if (!over && gone.remove(m.getRank())) {
          LOG.info("trainer {} of job {} is back, as another process; there are {} of {} trainers", m.getRank(), job.job(),
              active, job.trainers());
        }
      } else if (gone.add(m.getRank())) {
        departed.put(m.getRank(), departed(m));
        LOG.warn("trainer {} of job {} {}; trainer {}{} goes on with {} of {} trainers", m.getRank(), job.job(),
            what(m, leaseMillis), self.getAsInt(), at(lastStep.getAsLong()), active, job.trainers());
      }
    }
    lowest = IntStream.range(0, self.getAsInt()).allMatch(gone::contains);
    if (IntStream.range(0, self.getAsInt()).allMatch(free::contains)) {
      becomesLowest.tryComplete();
    }
  }

  /** Returns the trainers that were lost or have left before the end, as the last view of the group told it. */
  List<DepartedTrainer> departed() {
    return List.copyOf(departed.values());
  }

  /** Returns how far a trainer was that is no longer active. */
  static DepartedTrainer departed(Member m) {
    return new DepartedTrainer(m.getRank(), m.getState().equals(LEFT), m.getLastStep(), m.getExamples());
  }

  /** Returns a future that completes once all lower ranks are known to be lost, or to have left, at the end as well. */
  Future<Void> becomesLowest() {
    return becomesLowest.future();
  }

  /** Whether, as far as it is known here, no lower rank is held, nor has left at the end. Any thread. */
  boolean isLowest() {
    return lowest;
  }

  private static String what(Member m, long leaseMillis) {
    return m.getState().equals(LEFT) ? "has left" + at(m.getLastStep()) + ", before the end"
        : "is lost" + at(m.getLastStep()) + " (no heartbeat for " + leaseMillis / 1000.0 + " s)";
  }

  private static String at(long step) {
    return step < 0 ? "" : " at step " + step;
  }

  /** This trainer has made its last step: whoever leaves from now on may have, too. */
  void ending() {
    ending = true;
  }

  /** The run is over, and only these ranks have reached its end: the others are told here, and by no later view. */
  void atTheEnd(Set<Integer> ranks) {
    over = true;
    for (int rank = 0; rank < job.trainers(); rank++) {
      if (!ranks.contains(rank) && gone.add(rank)) {
        LOG.warn("trainer {} of job {} is lost or has left before the end, which {} of {} trainers have reached", rank,
            job.job(), ranks.size(), job.trainers());
      }
    }
  }
}
