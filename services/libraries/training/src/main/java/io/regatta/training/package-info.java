/**
 * The interfaces for authors of training programs: {@link io.regatta.training.TrainingProgram} is run with a {@link
 * io.regatta.training.Worker}. Each package below is one capability of a rank. Some are for programs, too, and the
 * others are machinery; the descriptions say which. They and this package depend on each other in one direction,
 * without cycles. Part of the public API.
 */
package io.regatta.training;
