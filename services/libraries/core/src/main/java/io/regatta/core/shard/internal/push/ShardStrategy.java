package io.regatta.core.shard.internal.push;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.parameters.ChangedRowsCollector;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The shard's side of a mode, for one job on one shard. It decides which pushes are accepted and when they are applied,
 * when a pull is answered, and at which moments a snapshot may be taken. {@code ShardStrategies} has the strategy of
 * each mode. Owned by the shard's thread.
 */
public interface ShardStrategy {

  // ---- pushes that are neither a repetition nor an announcement

  /**
   * Refuses a push that does not fit; changes nothing.
   *
   * @return the check of what the push holds, still to be made
   */
  RowCheck check(Push push, List<TrainerState> from, String who);

  /**
   * Takes in a push that has been checked, or refuses it and changes nothing: others may have been taken in since the
   * check.
   *
   * @param checked the check, run to its end
   * @param done completed when the mode acknowledges the push, unless this throws
   * @return what is to be applied now, or null
   */
  PushApplication take(Push push, List<TrainerState> from, String who, RowCheck checked, long sinceMillis,
      CompletableFuture<PushAck> done);

  /** Returns true if a push can be applied while it arrives; see {@link #begin}. */
  default boolean mayBegin(Push known) {
    return false;
  }

  /**
   * Begins to apply a push that has come in part; see {@link ParameterShard#begin}. Called if {@link #mayBegin}.
   *
   * @return what is to be applied now, or null if the push must come whole
   */
  default PushApplication begin(Push known, List<TrainerState> from, String who, int denseSize) {
    return null;
  }

  /** Returns true if the application of a push must end before that of another one begins. */
  default boolean appliesOneAtATime() {
    return false;
  }

  /** Keeps the answer to a repeated push until the push is in the values; returns false if it is there already. */
  default boolean owe(Push repeated, CompletableFuture<PushAck> done) {
    return false;
  }

  // ---- pulls

  /**
   * Returns which pulls may be answered, as far as this mode decides, for the state of this moment.
   *
   * @param slowest lowest clock of the trainers that take part; the highest number if there are none
   */
  Predicate<Pull> answerable(long slowest);

  /** Returns which trainers a pull that may not be answered waits for. */
  Predicate<TrainerState> isBehind(Pull pull);

  /** Returns true if a pull waits for those pushes of its trainer that came before it. */
  default boolean waitsForOwnPushes() {
    return true;
  }

  /** Returns the clock of a trainer that {@link io.regatta.core.exchange.Pulled#clockLead} compares with the slowest. */
  default long clock(TrainerState trainer, Pull pull) {
    return trainer.clock();
  }

  /** Refuses a pull of rows that have changed, unless this mode notes them. */
  default void checkChanged(JobContext job, Pull pull, String who) {
    throw new InvalidInput(who + " asks " + job.where + " for changed rows, which mode " + job.spec.mode().id() + " does not keep: only a mode "
        + "that pushes differences does");
  }

  /** Returns a reading of the rows that have changed since the trainer was last sent them; null if they are not noted. */
  default ChangedRowsCollector changesFor(TrainerState trainer) {
    return null;
  }

  /** Notes that a trainer has received all changes up to this version of {@link ChangedRowsCollector}. */
  default void received(TrainerState trainer, long version) {}

  /** Returns true if values are being changed in several turns, so that nobody may see them meanwhile. */
  default boolean isApplying() {
    return false;
  }

  /** Returns true if a change of values waits for pulls that were begun before; no other pull may begin meanwhile. */
  default boolean waitsForPulls() {
    return false;
  }

  // ---- trainers

  /** Returns the first step that a trainer which registers now can take part in. */
  long firstStep();

  /** Notes a trainer that has registered. */
  default void registered(TrainerState trainer) {}

  /** Returns the step from which a trainer that has registered is waited for. */
  long awaitedFrom(TrainerState trainer);

  /** Notes that a trainer has ended. */
  default void ended() {}

  // ---- the course of the job

  /** Begins what a change has made possible; called after every change. */
  default void settle() {}

  /** Makes this the first step: those before it are in the values that the job has been given. */
  void resumeAt(long step);

  /** Returns the step that a snapshot of this moment is of. */
  long step();

  /** Returns true if a snapshot of this step can be taken at this moment. */
  default boolean isAt(long step) {
    return true;
  }

  /** Refuses to hold pushes for a snapshot if steps say what it contains. */
  default void checkHold() {}

  /** Returns an upper bound of the rows that pushes which have been taken in may still create. */
  default long births() {
    return 0;
  }

  /** Acknowledges what is being applied, because the job is being freed: it was complete. */
  default void acknowledgeApplied() {}

  /** Fails the acknowledgements that are owed. */
  default void giveUp(Function<String, RegattaException> why) {}

  /** Returns the total time, by rank, that others waited for it in milliseconds. */
  default Map<Integer, Long> waitMillis() {
    return Map.of();
  }

  /** Adds the pushes that wait. */
  default void waits(List<Wait> out) {}
}
