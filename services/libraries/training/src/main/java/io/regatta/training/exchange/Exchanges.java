package io.regatta.training.exchange;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.collective.compress.LocalSteps;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Momentum;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Sgd;
import io.regatta.training.config.AdaptiveLocalsgdConfigs;
import io.regatta.training.config.Communication;
import io.regatta.training.config.DgcConfigs;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.LocalsgdConfigs;
import io.regatta.training.config.Strategy;
import io.regatta.training.exchange.collective.CollectiveExchange;
import io.regatta.training.exchange.collective.LargestSum;
import io.regatta.training.exchange.geo.GeoExchange;
import io.regatta.training.exchange.geo.GeoRank;
import io.regatta.training.exchange.localsgd.LocalSgdExchange;
import io.regatta.training.exchange.push.PushPullExchange;
import io.regatta.training.exchange.push.Rows;
import io.regatta.training.replica.Exchange;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.StepTimes;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.strategy.TrainerStrategy;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registry of exchanges: the {@link Exchange} of a job's strategy, and the part of the program's optimizer that is
 * left to the shards. Stateless; used on the model thread.
 */
public final class Exchanges {

  private static final Logger LOG = LoggerFactory.getLogger(Exchanges.class);

  private Exchanges() {}

  /**
   * Returns the exchange of the client's mode.
   *
   * @param optimizer the program's
   */
  public static Exchange of(ReplicaContext replica, Strategy strategy, ParameterClient client, OptimizerSpec optimizer,
      StepTimes times) {
    if (replica.session().ranks().isPresent()) {
      return collective(replica, strategy, client, optimizer, times);
    }
    TrainerStrategy trainer = strategy(strategy, client);
    if (!trainer.mode().pushesDeltas()) {
      return new PushPullExchange(replica, client, trainer, times);
    }
    GeoRank state = replica.group().collective(replica.session(), replica.replica(), "start of geo mode", client,
        clients -> new GeoRank(replica.session(), clients.get(0), replica.group().steps(), trainer.stepsPerPush()));
    return new GeoExchange(replica, state, times);
  }

  /** Returns what a trainer does at its shards: alone, at those of its own process, it has rounds in every mode. */
  private static TrainerStrategy strategy(Strategy strategy, ParameterClient client) {
    return client.job().mode() == strategy.mode() ? strategy.trainer() : Strategy.sync().trainer();
  }

  private static Exchange collective(ReplicaContext replica, Strategy strategy, ParameterClient client, OptimizerSpec optimizer,
      StepTimes times) {
    Communication communication = communication(replica.session(), strategy);
    LocalSteps localSteps = localSteps(communication);
    if (localSteps != null) {
      LocalSgdExchange exchange = new LocalSgdExchange(replica, client, localSteps, times);
      replica.group().joinsBy(exchange::join);
      return exchange;
    }
    CollectiveExchange exchange = new CollectiveExchange(replica, client, communication, optimizer, times);
    replica.group().joinsBy(exchange);
    LOG.info("job {}: {} dense values in {} variables, exchanged in {} buckets", client.job().job(),
        client.partition().numel(), client.job().model().dense().size(), exchange.plan().buckets().size());
    return exchange;
  }

  /** Returns the rule for local steps; null if the ranks exchange gradients in each step. */
  private static LocalSteps localSteps(Communication communication) {
    return communication instanceof LocalsgdConfigs fixed ? LocalSteps.fixed(fixed.kSteps(), fixed.beginStep())
        : communication instanceof AdaptiveLocalsgdConfigs adaptive
            ? LocalSteps.adaptive(adaptive.initKSteps(), adaptive.beginStep()) : null;
  }

  /**
   * Returns what the ranks exchange; a single rank that no other can join has no bytes to save.
   *
   * @throws InvalidInput if the job is elastic and its strategy keeps per-rank state, which a newcomer would lack
   */
  private static Communication communication(TrainerSession session, Strategy strategy) {
    Communication communication = strategy.communication();
    if (!session.isElastic()) {
      return session.worldSize() == 1 ? Communication.PLAIN : communication;
    }
    JobConfig job = session.job();
    if (!(communication instanceof Communication.AllReduce)) {
      throw new InvalidInput("job " + job.job() + " is elastic (" + job.elasticBy() + "), so that its trainers must exchange "
          + "whole gradients, without state that a newcomer would lack; remove dgc, localsgd and adaptive_localsgd");
    }
    return communication;
  }

  /** Returns true if the ranks send each other only the largest gradients, and keep the others. */
  public static boolean compresses(TrainerSession session, Strategy strategy) {
    return communication(session, strategy) instanceof DgcConfigs;
  }

  /** Returns the update rule of the shards: the part of the program's that the exchange leaves to them. */
  public static OptimizerSpec update(TrainerSession session, Strategy strategy, OptimizerSpec optimizer) {
    Communication communication = communication(session, strategy);
    if (communication instanceof DgcConfigs) {
      requireMomentum(optimizer, "dgc");
      if (optimizer.clipValue() > 0) {
        throw new InvalidInput("dgc sends values accumulated over many steps, to which clip_value does not apply; remove it, "
            + "or use clip_norm");
      }
      return LargestSum.update(optimizer);
    }
    if (!(communication instanceof Communication.AllReduce)) {
      requireMomentum(optimizer, "localsgd");
    }
    return optimizer;
  }

  /**
   * Checks the optimizer, as PaddlePaddle does: accumulated, or averaged, values are linear in the gradients only with
   * these.
   */
  private static void requireMomentum(OptimizerSpec optimizer, String what) {
    if (!(optimizer.optimizer() instanceof Sgd || optimizer.optimizer() instanceof Momentum)) {
      throw new InvalidInput(what + " trains with sgd and momentum only, but the optimizer is "
          + optimizer.name() + "; choose one of these, or fp16_allreduce to send fewer bytes");
    }
  }

  /** Refuses tables in collective mode: their rows are on servers, of which it has none. */
  public static void refuseTables(Strategy strategy, List<SparseTableSpec> tables) {
    if (!strategy.mode().needsServers() && !tables.isEmpty()) {
      throw new InvalidInput("the model has a DistributedEmbedding (" + tables.get(0).name() + "), whose rows are on servers, but "
          + "mode collective has none; choose another mode, or an embedding of DJL's whose rows are dense parameters");
    }
  }
}
