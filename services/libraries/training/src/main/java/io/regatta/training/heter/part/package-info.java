/**
 * The two sides of a network that is cut: the trainer's, which sends the inputs of the part away and continues from its
 * results, and the heter worker's, which computes the part. Used by {@code FleetTrainer} on model threads.
 */
package io.regatta.training.heter.part;
