package io.regatta.training.session;

import io.regatta.core.exchange.TrainerId;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The group of a job's trainers from the point of view of one member: which rank it is, which the others are, and the
 * operations of all ranks. In an elastic job it describes the current generation. Any thread may use it; the defaults
 * are those of a single trainer.
 */
public interface JobGroup {

  /** Returns this rank and its incarnation. */
  TrainerId trainer();

  int worldSize();

  /** Returns the ranks whose data nobody else trains when they are lost: all, but in an elastic job none. */
  default Set<Integer> ranksWithOwnData() {
    return ranks().map(RankOperations::peers).filter(RankGroup::isElastic).isPresent() ? Set.of()
        : IntStream.range(0, worldSize()).boxed().collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Returns the number of trainers with lower ranks on this one's host; if hosts are not known, all trainers count as
   * on one host.
   */
  default int localRank() {
    return trainer().rank();
  }

  /** Returns the endpoints that the trainers announced, by rank. */
  List<String> endpoints();

  /** Returns the calls by which the ranks agree outside of steps. */
  RankCalls calls();

  /**
   * Returns the operations of this rank with the others in collective mode. They exist once
   * {@link TrainerSession#connect} has been called, in an elastic job from the beginning; empty in modes with servers.
   */
  default Optional<RankOperations> ranks() {
    return Optional.empty();
  }

  /**
   * Returns true if this rank must do what one rank does for all without asking the others: it is the lowest, or those
   * below are lost.
   */
  default boolean isLowest() {
    return trainer().rank() == 0;
  }

  /**
   * Returns the result of {@link #isLowest} once it is certain: a lower rank that has died is declared lost when its
   * lease ends. False if a lower rank is still active then.
   */
  default CompletableFuture<Boolean> lowest() {
    return CompletableFuture.completedFuture(isLowest());
  }

  /** Returns the trainers that have left this job, or were lost; empty if no rendezvous counts them. */
  default CompletableFuture<List<DepartedTrainer>> departed() {
    return CompletableFuture.completedFuture(List.of());
  }

  /**
   * Returns true once a call that needs the other trainers has failed because the rendezvous is lost or no longer knows
   * them.
   */
  default boolean isWithoutRendezvous() {
    return false;
  }

  /**
   * Notes that this rank has made its last step and only exchanges its summary: trainers that leave from now on are not
   * missing.
   */
  default void ending() {}

  /** Notes the ranks that have reached the end of the run; the others were lost or have left, and that is logged. */
  default void reachedTheEnd(Set<Integer> ranks) {}
}
