package io.regatta.training.run;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.core.progress.Progress;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.result.RunResult;
import io.regatta.training.session.Awaiting;
import io.regatta.training.session.JobGroup;
import io.regatta.training.session.OwnShardsSession;
import io.regatta.training.session.RankCalls;
import io.regatta.training.session.RankOperations;
import io.regatta.training.session.SharedGenerations;
import io.regatta.training.trace.StepTrace;
import java.util.List;
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
    Trainer trainer = new Trainer(group.member());
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
  final class Trainer extends OwnShardsSession implements JobGroup {
    private final SharedGenerations.Member member;
    private final Awaiting awaiting = new Awaiting();
    private final CompletableFuture<RunResult> result = new CompletableFuture<>();
    private final RankOperations ranks;

    private Trainer(SharedGenerations.Member member) {
      super(job, 1, StepTrace.off());
      this.member = member;
      ranks = new RankOperations(clock(), "trainer of job " + job.job(), member, this::await);
    }

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
    public JobGroup group() {
      return this;
    }

    @Override
    public TrainerId trainer() {
      return new TrainerId(member.rank(), ranks.life());
    }

    @Override
    public int worldSize() {
      return member.worldSize();
    }

    @Override
    public List<String> endpoints() {
      return List.of();
    }

    @Override
    public RankCalls calls() {
      return ranks.calls();
    }

    @Override
    public Optional<RankOperations> ranks() {
      return Optional.of(ranks);
    }

    @Override
    public Sharding sharding() {
      return Sharding.common(0);
    }

    @Override
    public CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
      return ownShards().connect(ownSpec(model));
    }

    @Override
    public <T> T await(String operation, CompletionStage<T> stage) {
      return awaiting.await(operation, stage);
    }

    @Override
    public void stepped(long step) {}
  }
}
