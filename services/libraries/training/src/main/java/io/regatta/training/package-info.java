/**
 * The API for authors of training programs: {@link io.regatta.training.TrainingProgram} is run with a
 * {@link io.regatta.training.Worker}. Each package below is one capability of the trainer. They and this package depend
 * on each other in one direction, without cycles.
 */
package io.regatta.training;
