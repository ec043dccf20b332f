/**
 * What the author of a training program sees: {@link io.regatta.training.TrainingProgram} is run with a
 * {@link io.regatta.training.Worker}. Each package below is one capability of the trainer; they and this one depend on
 * each other in one direction, without circles.
 */
package io.regatta.training;
