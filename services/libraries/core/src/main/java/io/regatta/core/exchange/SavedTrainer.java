package io.regatta.core.exchange;

/**
 * The state of one trainer's pushes at the moment of a snapshot.
 *
 * @param sequence of its last push; that one and all lower ones are included, but of the last one perhaps only a
 *     part, see {@code ahead}
 * @param clock that orders waits; see {@link TrainerProgress}
 * @param progress as its pushes reported it
 * @param ahead examples of the push that has been applied in part, if there is one; else 0
 * @param active false if it was lost or has left
 */
public record SavedTrainer(int rank, long incarnation, long sequence, long clock, TrainerProgress progress, long ahead,
    boolean active) {}
