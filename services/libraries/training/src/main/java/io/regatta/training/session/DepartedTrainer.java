package io.regatta.training.session;

/**
 * A trainer that is no longer in its job: how it departed, and its progress by its last heartbeat. Immutable.
 *
 * @param left true: it failed or was stopped, and reported it; false: it was lost
 * @param lastStep -1: none
 * @param examples that it had trained
 */
public record DepartedTrainer(int rank, boolean left, long lastStep, long examples) {}
