package io.regatta.trainer.session;

import io.regatta.core.exchange.TrainerId;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The group of a job's trainers, as one of them belongs to it: who this one is, who the others are, and what the ranks
 * do together. In an elastic job all of it is that of the current generation. Any thread; the defaults are those of a
 * trainer without others.
 */
public interface JobGroup {

  /** This rank, and its life. */
  TrainerId trainer();

  int worldSize();

  /** Returns the ranks whose data nobody else trains when they are lost: all, but in an elastic job none. */
  default Set<Integer> ranksWithOwnData() {
    return ranks().map(RankOperations::peers).filter(RankGroup::isElastic).isPresent() ? Set.of()
        : IntStream.range(0, worldSize()).boxed().collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * How many trainers of lower ranks are on this one's host; if hosts are not known, all trainers are taken to be on
   * one.
   */
  default int localRank() {
    return trainer().rank();
  }

  /** What the trainers announced, by rank. */
  List<String> endpoints();

  /** Returns the calls by which the ranks agree outside of steps. */
  RankCalls calls();

  /**
   * Returns what this rank makes together with the others in collective mode: once {@link TrainerSession#connect} has
   * been called, in an elastic job from the beginning; empty in modes with servers.
   */
  default Optional<RankOperations> ranks() {
    return Optional.empty();
  }

  /**
   * Whether this rank is to do what one rank does for all without asking the others: it is the lowest, or those below
   * are lost.
   */
  default boolean isLowest() {
    return trainer().rank() == 0;
  }

  /**
   * Completes with whether {@link #isLowest}, waiting for news: a lower rank that has died is declared lost when its
   * lease has ended. False if one still lives then.
   */
  default CompletableFuture<Boolean> lowest() {
    return CompletableFuture.completedFuture(isLowest());
  }

  /** Asks for the trainers that have left this job, or were lost; nobody where no rendezvous counts them. */
  default CompletableFuture<List<DepartedTrainer>> departed() {
    return CompletableFuture.completedFuture(List.of());
  }

  /**
   * Returns true once a call that needs the other trainers has failed because the rendezvous is gone or knows them no
   * longer.
   */
  default boolean isWithoutRendezvous() {
    return false;
  }

  /** This rank has made its last step and only tells the others of its run: who leaves from now on is not missed. */
  default void ending() {}

  /** The ranks that have reached the end of the run; the others were lost or have left, and that is logged. */
  default void reachedTheEnd(Set<Integer> ranks) {}
}
