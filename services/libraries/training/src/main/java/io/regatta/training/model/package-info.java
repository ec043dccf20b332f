/**
 * A model of DJL as the trainer sees it: its dense parameters in one vector, its tables on servers, its threads and
 * its engine. The training loop in {@code trainer.rank} calls it; programs use its blocks.
 */
package io.regatta.training.model;
