/**
 * What the author of a training program sees: {@link io.regatta.trainer.TrainingProgram} is run with a
 * {@link io.regatta.trainer.Worker}. Each package below is one capability of the trainer; they and this one depend on
 * each other in one direction, without circles.
 */
package io.regatta.trainer;
