/**
 * One rank's session of a job from the point of view of its model threads,
 * {@link io.regatta.training.session.TrainerSession}, and the one without services,
 * {@link io.regatta.training.session.LocalSession}. The training loop calls it; the trainer's service implements it.
 */
package io.regatta.training.session;
