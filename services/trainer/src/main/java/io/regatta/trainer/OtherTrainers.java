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
 * A trainer's knowledge of the others of its job, from the group's view at the rendezvous: it logs one warning for each
 * that is lost or leaves before the end. Owned by {@link TrainerVerticle}, on its event loop.
 */
final class OtherTrainers {

  private static final Logger LOG = LoggerFactory.getLogger(OtherTrainers.class);
  private static final String ACTIVE = "active";
  private static final String LEFT = "left";

  private final JobConfig job;
  private final IntSupplier self;
  private final LongSupplier lastStep;
  /** The others that are not active any more, by rank. */
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
    /** Has not reached the end of the run, although no view has shown yet that it is not active. */
    MISSING
  }

  /**
   * A trainer that is not active any more.
   *
   * @param progress its progress in the view; null: missing
   */
  private record Away(State state, DepartedTrainer progress) {

    static final Away MISSING = new Away(State.MISSING, null);

    /** Returns true if it has not reached the end, as far as it is known. */
    boolean isGone() {
      return state != State.LEFT_AT_THE_END;
    }
  }

  /**
   * Creates the knowledge of one trainer.
   *
   * @param self this trainer's rank
   * @param lastStep the last step that this trainer has made, -1 if none
   */
  OtherTrainers(JobConfig job, IntSupplier self, LongSupplier lastStep) {
    this.job = job;
    this.self = self;
    this.lastStep = lastStep;
  }

  /**
   * Logs the changes of a view of the group against the views before it.
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
        // at the end all leave; the last gather shows which have reached it
        boolean atTheEnd = ending && m.getState().equals(LEFT);
        away.put(m.getRank(), new Away(atTheEnd ? State.LEFT_AT_THE_END : State.DEPARTED, departed(m)));
        if (!atTheEnd) {
          LOG.warn("trainer {} of job {} {}; trainer {}{} continues with {} of {} trainers", m.getRank(), job.job(),
              what(m, leaseMillis), self.getAsInt(), at(lastStep.getAsLong()), active, job.trainers());
        }
      } else if (before.state == State.MISSING) { // a warning was logged at the end
        away.put(m.getRank(), new Away(State.DEPARTED, departed(m)));
      }
    }
    lowest = lowerAre(Away::isGone);
    if (lowerAre(of -> of.state != State.MISSING)) {
      becomesLowest.tryComplete();
    }
  }

  /** Notes that a view names a trainer as active. After the end such a view is older than what is known. */
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
      LOG.info("trainer {} of job {} is back as another process; {} of {} trainers are active", rank, job.job(), active, job.trainers());
    }
  }

  /** Returns true if all lower ranks are away and satisfy the condition. */
  private boolean lowerAre(Predicate<Away> how) {
    return IntStream.range(0, self.getAsInt()).allMatch(rank -> away.containsKey(rank) && how.test(away.get(rank)));
  }

  /** Returns the trainers that were lost or have left before the end, as the last view of the group showed them. */
  List<DepartedTrainer> departed() {
    return away.values().stream().filter(of -> of.state == State.DEPARTED).map(Away::progress).toList();
  }

  /** Returns the progress of a trainer that is no longer active. */
  static DepartedTrainer departed(Member m) {
    return new DepartedTrainer(m.getRank(), m.getState().equals(LEFT), m.getLastStep(), m.getExamples());
  }

  /**
   * Returns a future that completes once all lower ranks are known to be lost, or to have left, including at the end.
   */
  Future<Void> becomesLowest() {
    return becomesLowest.future();
  }

  /** Returns true if, as far as it is known here, no lower rank is active, or has left at the end. Any thread. */
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

  /** Notes that this trainer has made its last step: the others that leave from now on may have done so, too. */
  void ending() {
    ending = true;
  }

  /**
   * Notes that the run is over, and only these ranks have reached its end. The others are logged here, and by no later
   * view.
   */
  void atTheEnd(Set<Integer> ranks) {
    over = true;
    for (int rank = 0; rank < job.trainers(); rank++) {
      Away before = away.get(rank);
      if (!ranks.contains(rank) && (before == null || !before.isGone())) {
        away.put(rank, before == null ? Away.MISSING : new Away(State.DEPARTED, before.progress));
        LOG.warn("trainer {} of job {} is lost or has left before the end, which {} of {} trainers have reached", rank,
            job.job(), ranks.size(), job.trainers());
      }
    }
  }
}
