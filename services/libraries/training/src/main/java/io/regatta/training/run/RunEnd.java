package io.regatta.training.run;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Mode;
import io.regatta.protocol.gather.ElectionResult;
import io.regatta.snapshot.ExampleCounts;
import io.regatta.training.config.JobConfig;
import io.regatta.training.rank.ModelRegistration;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.ReplicaGroup;
import io.regatta.training.result.ExchangeFigures;
import io.regatta.training.result.MetricNames;
import io.regatta.training.result.ResultFile;
import io.regatta.training.result.RunLosses;
import io.regatta.training.result.RunResult;
import io.regatta.training.session.TrainerSession;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a run, after the ranks' programs have ended. The ranks exchange their summaries, save what the job
 * requests, check that all have the same parameters, write the result, and leave. The last act of the leader of a
 * rank's replicas, on its model thread.
 */
final class RunEnd {

  private static final Logger LOG = LoggerFactory.getLogger(RunEnd.class);

  private final TrainerSession session;
  private final ReplicaGroup group;
  private final RankCollectives collectives;
  private final ModelSaves saves;
  private final ResultFile resultFile;
  /** Ranks that have reached the end; null before they have met there. */
  private Set<Integer> reached;

  /** @param resultFile where the result is written if this is the lowest rank with such a file; null: none */
  RunEnd(TrainerSession session, ReplicaGroup group, RankCollectives collectives, ModelSaves saves, ResultFile resultFile) {
    this.saves = saves;
    this.session = session;
    this.group = group;
    this.collectives = collectives;
    this.resultFile = resultFile;
  }

  /**
   * Combines all ranks' summaries, hashes the parameters, and leaves. Ranks may differ in whether they train and in
   * what they write; every rank takes part in every meeting, or the others would wait for it there.
   */
  RunResult together(List<ReplicaWorker> workers) {
    saves.trained();
    session.group().ending();
    if (session.client().isEmpty()) {
      ModelRegistration.abstain(session);
    }
    ReplicaWorker first = workers.get(0);
    RankStats stats = stats(workers);
    List<RankStats> ranks = collectives.gatherLast("end of the run", stats.toReport()).stream()
        .map(RankStats::of).toList();
    Set<Integer> there = ranks.stream().map(RankStats::rank).collect(Collectors.toSet());
    reached = there;
    session.group().reachedTheEnd(there);
    first.saveAtTheEnd(); // before everything that only describes it
    String parametersHash = hash();
    RunResult end = result(stats, ranks, first, parametersHash, LossReport.of(session, there, first.trainer()));
    write(end);
    leave(end.isSuccess());
    return end;
  }

  /** Returns the ranks that have reached the end of the run; empty before they have met there. */
  Optional<Set<Integer>> reached() {
    return Optional.ofNullable(reached);
  }

  /**
   * Leaves. The run has done all its work: a shard that is lost now does not undo it, and the rendezvous notifies the
   * others.
   */
  private void leave(boolean succeeded) {
    try {
      session.await("leave", session.leave(succeeded));
    } catch (PeerLost e) { // the session has logged a warning
      LOG.debug("trainer {} of job {} has reached its end, but could not leave every shard: {}", session.trainer().rank(),
          session.job().job(), e.getMessage());
    }
  }

  /** Writes the result on the lowest active rank that has a file; if it is lost meanwhile, on the next one. */
  private void write(RunResult end) {
    collectives.byTheLowest("result file", resultFile != null, () -> {
      resultFile.write(end);
      LOG.info("trainer {} has written the result of job {} to {}", end.rank(), end.job(), resultFile);
      return ElectionResult.getDefaultInstance();
    });
  }

  /** Returns the hash of all parameters; empty if no rank trains. */
  private String hash() {
    Optional<ParameterClient> client = session.client();
    Optional<Long> digest = collectives.byTheLowest("hash of all parameters", client.isPresent(), () -> ElectionResult.newBuilder()
        .setDigest(session.await("hash of all parameters", client.orElseThrow().digest())).build())
        .filter(ElectionResult::hasDigest).map(ElectionResult::getDigest);
    if (session.isCollective() && digest.isPresent()) {
      requireSame(digest.get(), client.orElseThrow());
    }
    return digest.map(of -> String.format(Locale.ROOT, "%016x", of)).orElse("");
  }

  /** Checks, in collective mode, that each rank's copy of the parameters is the same. */
  private void requireSame(long digest, ParameterClient client) {
    if (session.await("hash of this rank's parameters", client.digest()) != digest) {
      throw new IllegalStateException("trainer " + session.trainer().rank() + " has other parameters at the end than the lowest "
          + "rank; steps have not been the same on both");
    }
  }

  private RankStats stats(List<ReplicaWorker> workers) {
    long examples = 0;
    double seconds = 0;
    for (ReplicaWorker w : workers) {
      if (w.trainer() != null) {
        examples += w.trainer().examples();
        seconds = Math.max(seconds, w.trainer().seconds());
      }
    }
    ReplicaWorker first = workers.get(0);
    RankSteps steps = group.steps();
    return new RankStats(session.trainer().rank(), ProcessHandle.current().pid(),
        first.trainer() == null ? 0 : first.trainer().steps(), examples, seconds,
        new ExchangeFigures(steps.stalenessMax(), steps.clockLeadMax(), steps.skippedPushes()),
        first.reported(), steps.before());
  }

  /** Returns the examples of earlier incarnations, which all ranks that have trained know. */
  private static ExampleCounts before(List<RankStats> ranks) {
    return ranks.stream().map(RankStats::before).filter(before -> !before.equals(ExampleCounts.NONE)).findFirst()
        .orElse(ExampleCounts.NONE);
  }

  private RunResult result(RankStats stats, List<RankStats> ranks, ReplicaWorker first, String parametersHash, RunLosses losses) {
    JobConfig job = session.job();
    RankStats lowest = ranks.get(0);
    long examples = losses.examples();
    double seconds = 0;
    ExchangeFigures exchange = lowest.exchange();
    Map<String, Long> processIds = new TreeMap<>(session.serviceProcessIds());
    List<Double> rates = new ArrayList<>();
    for (RankStats r : ranks) {
      examples += r.examples();
      seconds = Math.max(seconds, r.seconds());
      exchange = r == lowest ? exchange : exchange.and(r.exchange());
      processIds.put("trainer-" + r.rank(), r.processId());
      rates.add(r.examplesPerSecond());
    }
    Map<String, Double> metrics = new LinkedHashMap<>(first.reported());
    MetricNames.TOP_LEVEL.forEach(metrics::remove);
    metrics.putAll(lowest.metrics());
    if (first.trainer() != null) {
      metrics.putAll(first.trainer().exchangeFigures());
    }
    ExampleCounts before = before(ranks);
    long repeated = before.repeated() + session.ranks().map(rank -> rank.passes().repeated()).orElse(0L);
    examples += Math.max(0, before.trained());
    if (session.isElastic()) { // trainers join and leave: the completed steps count
      examples = Math.max(examples, group.steps().examplesOfAll());
      seconds = Math.max(seconds, group.steps().millisBefore() / 1000.0 + stats.seconds());
    }
    int servers = session.serverEndpoints().size();
    Mode mode = session.isCollective() ? job.mode() : session.client().map(c -> c.job().mode()).orElse(job.mode());
    return new RunResult(job.job(), mode.id(), servers, session.worldSize(),
        job.threads(), session.shards(), job.seed(), session.trainer().rank(), lowest.steps(), examples, seconds,
        exchange, processIds, first.model(), parametersHash, metrics, rates, losses,
        before.trained(), repeated, first.evaluations(), "");
  }
}
