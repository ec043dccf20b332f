package io.regatta.fleet.process;

import io.regatta.aggregator.AggregatorConfig;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;

/**
 * Configurations of the services of a {@link LocalCluster}, one for each kind: server, rank and job come from the
 * cluster. Immutable.
 */
public record ServiceConfigs(RendezvousConfig rendezvous, ParameterServerConfig parameterServer,
    AggregatorConfig gradientAggregator, TrainerConfig trainer) {

  /** Returns the defaults. */
  public static ServiceConfigs defaults(JobConfig job) {
    return new ServiceConfigs(RendezvousConfig.defaults(), ParameterServerConfig.defaults(),
        AggregatorConfig.defaults(), new TrainerConfig(job, -1, ""));
  }
}
