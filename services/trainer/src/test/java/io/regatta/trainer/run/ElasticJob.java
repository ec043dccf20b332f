package io.regatta.trainer.run;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.reduce.Elementwise;
import io.regatta.trainer.Progress;
import io.regatta.trainer.TrainingProgram;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.result.RunResult;
import io.regatta.trainer.session.Awaiting;
import io.regatta.trainer.session.ElasticRank;
import io.regatta.trainer.session.OwnShards;
import io.regatta.trainer.session.PeerRanks;
import io.regatta.trainer.session.SharedGenerations;
import io.regatta.trainer.session.TrainerSession;
import io.regatta.trainer.trace.StepTrace;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The trainers of an elastic job in one process, without a network. Any thread. */
final class ElasticJob {

  private final JobConfig job;
  private final SharedGenerations group;
  private final TrainingProgram program;

  ElasticJob(JobConfig job, long seed, TrainingProgram program) {
    this.job = job;
    this.program = program;
    group = new SharedGenerations(job.collective().minTrainers(), job.trainers(), seed);
  }

  SharedGenerations group() {
    return group;
  }

  /** Starts a trainer, which joins the group. */
  Trainer start() {
    Trainer trainer = new Trainer();
    trainer.member.reform().whenComplete((v, e) -> {
      if (e != null) {
        trainer.result.completeExceptionally(e);
        return;
      }
      RankRun run = new RankRun(trainer, program, Progress.none());
      run.start();
      run.ended().whenComplete((end, x) -> {
        trainer.member.leave();
        run.result().whenComplete((result, failure) -> {
          if (failure != null) {
            trainer.result.completeExceptionally(failure);
          } else {
            trainer.result.complete(result);
          }
        });
      });
    });
    return trainer;
  }

  /** One trainer, and its session. */
  final class Trainer implements TrainerSession {
    private final SharedGenerations.Member member = group.member();
    private final Awaiting awaiting = new Awaiting();
    private final OwnShards own = new OwnShards(1, StepTrace.off());
    private final ElasticRank rank = new ElasticRank("trainer of job " + job.job(), member, this::await);
    private final CompletableFuture<RunResult> result = new CompletableFuture<>();

    CompletableFuture<RunResult> result() {
      return result;
    }

    SharedGenerations.Member member() {
      return member;
    }

    /** Dies wherever its model thread is. */
    void kill() {
      member.kill();
      awaiting.end(new Cancelled("this trainer was killed"));
    }

    @Override
    public JobConfig job() {
      return job;
    }

    @Override
    public TrainerId trainer() {
      return new TrainerId(member.rank(), rank.life());
    }

    @Override
    public int worldSize() {
      return member.worldSize();
    }

    @Override
    public List<String> serverEndpoints() {
      return List.of();
    }

    @Override
    public List<String> workerEndpoints() {
      return List.of();
    }

    @Override
    public int shards() {
      return 0;
    }

    @Override
    public CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
      return own.connect(ownSpec(model));
    }

    @Override
    public Optional<ParameterClient> client() {
      return own.client();
    }

    @Override
    public OwnShards ownShards() {
      return own;
    }

    @Override
    public Optional<PeerRanks> peers() {
      return Optional.of(member);
    }

    @Override
    public Optional<ElasticRank> elastic() {
      return Optional.of(rank);
    }

    @Override
    public CompletableFuture<List<double[]>> gather(String key, double[] values) {
      throw new AssertionError("ranks of elastic jobs gather by their calls");
    }

    @Override
    public CompletableFuture<Reduced> reduce(String key, Elementwise how, double[] slice, int ofValues) {
      throw new AssertionError("ranks of elastic jobs reduce by their calls");
    }

    @Override
    public CompletableFuture<Saving> save(SaveOrder order) {
      return own.save(order);
    }

    @Override
    public CompletableFuture<Boolean> restore(RestoreOrder order) {
      return own.restore(order);
    }

    @Override
    public <T> T await(String operation, CompletionStage<T> stage) {
      return awaiting.await(operation, stage);
    }

    @Override
    public void stepped(long step) {}

    @Override
    public CompletableFuture<Void> leave() {
      return client().map(ParameterClient::leave).orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    @Override
    public Map<String, Long> serviceProcessIds() {
      return Map.of();
    }
  }
}
