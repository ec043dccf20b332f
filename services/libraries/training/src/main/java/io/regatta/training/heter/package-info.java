/**
 * The cut of a network between a trainer and a heter worker, which computes one part of it elsewhere.
 * {@code FleetTrainer} uses it.
 */
package io.regatta.training.heter;
