package io.regatta.trainer;

import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.training.config.JobConfig;
import io.regatta.training.session.DepartedTrainer;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
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
  /** By rank, the others that are not active any more. */
  private final Map<Integer, Away> away = new TreeMap<>();
  private final Promise<Void> becomesLowest = Promise.promise();
  /** Read by any thread. */
  private volatile boolean lowest;
  private boolean ending;
  private boolean over;

  private enum State {
    /** Left when this trainer had made its last step, and may have reached the end of the run. */
    LEFT_AT_THE_END,
    /** Lost, or left before the end. */
    DEPARTED,
    /** Has not reached the end of the run, though no view has told yet that it is not active. */
    MISSING
  }

  /**
   * A trainer that is not active any more.
   *
   * @param told how far it was, by the view; null: missing
   */
  private record Away(State state, DepartedTrainer told) {

    static final Away MISSING = new Away(State.MISSING, null);

    /** Returns true if it has not reached the end, as far as it is known. */
    boolean isGone() {
      return state != State.LEFT_AT_THE_END;
    }
  }

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
      if (m.getRank() == self.getAsInt()) {
        continue;
      }
      Away before = away.get(m.getRank());
      if (m.getState().equals(ACTIVE)) {
        active(m.getRank(), before, active);
      } else if (before == null || before.state == State.LEFT_AT_THE_END) {
        // at the end everybody leaves, and who has come there is known from the last gather
        boolean atTheEnd = ending && m.getState().equals(LEFT);
        away.put(m.getRank(), new Away(atTheEnd ? State.LEFT_AT_THE_END : State.DEPARTED, departed(m)));
        if (!atTheEnd) {
          LOG.warn("trainer {} of job {} {}; trainer {}{} goes on with {} of {} trainers", m.getRank(), job.job(),
              what(m, leaseMillis), self.getAsInt(), at(lastStep.getAsLong()), active, job.trainers());
        }
      } else if (before.state == State.MISSING) { // it was warned of at the end
        away.put(m.getRank(), new Away(State.DEPARTED, departed(m)));
      }
    }
    lowest = lowerAre(Away::isGone);
    if (lowerAre(of -> of.state != State.MISSING)) {
      becomesLowest.tryComplete();
    }
  }

  /** Notes that a view names a trainer as active. After the end that view is older than what is known. */
  private void active(int rank, Away before, long active) {
    if (before == null) {
      return;
    }
    if (over && before.isGone()) {
      away.put(rank, Away.MISSING);
      return;
    }
    away.remove(rank);
    if (before.isGone()) {
      LOG.info("trainer {} of job {} is back, as another process; there are {} of {} trainers", rank, job.job(), active, job.trainers());
    }
  }

  /** Returns true if all lower ranks are away, in this way. */
  private boolean lowerAre(Predicate<Away> how) {
    return IntStream.range(0, self.getAsInt()).allMatch(rank -> away.containsKey(rank) && how.test(away.get(rank)));
  }

  /** Returns the trainers that were lost or have left before the end, as the last view of the group told it. */
  List<DepartedTrainer> departed() {
    return away.values().stream().filter(of -> of.state == State.DEPARTED).map(Away::told).toList();
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
      Away before = away.get(rank);
      if (!ranks.contains(rank) && (before == null || !before.isGone())) {
        away.put(rank, before == null ? Away.MISSING : new Away(State.DEPARTED, before.told));
        LOG.warn("trainer {} of job {} is lost or has left before the end, which {} of {} trainers have reached", rank,
            job.job(), ranks.size(), job.trainers());
      }
    }
  }
}
