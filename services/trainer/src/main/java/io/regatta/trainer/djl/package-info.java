/**
 * Parameters on the cluster under DJL's own training loop: {@link io.regatta.trainer.djl.FleetTrainer},
 * {@link io.regatta.trainer.djl.DistributedEmbedding}, the exchange at each step, model threads, engines.
 */
package io.regatta.trainer.djl;
