package io.regatta.trainer.session;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.trace.StepTrace;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A session of one trainer of an elastic job. Rank and world size are those of the generation that there is; everything that the
 * ranks do together goes through {@link #elastic}, on the model thread.
 */
public abstract class ElasticRankSession extends OwnShardsSession {

  private final RankGroup peers;
  private final RankOperations rank;

  /** @param peers the ranks, this one among them, in a generation that has formed */
  protected ElasticRankSession(JobConfig job, RankGroup peers, StepTrace trace) {
    super(job, 1, trace);
    this.peers = peers;
    rank = new RankOperations(trace.clock(), "trainer of job " + job.job(), peers, this::await);
  }

  @Override
  public final TrainerId trainer() {
    return new TrainerId(peers.rank(), rank.life());
  }

  @Override
  public final int worldSize() {
    return peers.worldSize();
  }

  @Override
  public final Sharding sharding() {
    return Sharding.common(0);
  }

  @Override
  public final CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
    if (strategy.mode() != Mode.COLLECTIVE) {
      return CompletableFuture.failedFuture(new InvalidInput("job " + job().job() + ": the program's Strategy needs servers, but the "
          + "job has none: its mode is collective"));
    }
    return ownShards().connect(ownSpec(model));
  }

  @Override
  public final Optional<RankOperations> ranks() {
    return Optional.of(rank);
  }

  @Override
  public final RankCalls calls() {
    return rank.calls();
  }
}
