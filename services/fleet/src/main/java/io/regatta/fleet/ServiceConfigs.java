package io.regatta.fleet;

import io.regatta.aggregator.AggregatorConfig;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;

/**
 * How the services of a {@link LocalCluster} are configured, each kind alike: which server, which rank and which job it
 * is comes from the cluster. Immutable.
 */
public record ServiceConfigs(RendezvousConfig rendezvous, ParameterServerConfig parameterServer,
    AggregatorConfig gradientAggregator, TrainerConfig trainer) {

  /** Everything by default. */
  public static ServiceConfigs defaults(JobConfig job) {
    return new ServiceConfigs(RendezvousConfig.defaults(), ParameterServerConfig.defaults(),
        AggregatorConfig.defaults(), new TrainerConfig(job, -1, ""));
  }
}
