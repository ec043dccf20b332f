/**
 * The two sides of a network that is cut. The trainer's side sends the inputs of the part away and continues from its
 * results; the heter worker's side computes the part. Used by {@code FleetTrainer} on model threads.
 */
package io.regatta.training.heter.part;
