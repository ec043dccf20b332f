package io.regatta.training.run;

import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.data.DataShare;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.OnTrainerLost;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.LostTrainer;
import io.regatta.training.result.RunLosses;
import io.regatta.training.session.DepartedTrainer;
import io.regatta.training.session.TrainerSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The report on trainers that did not reach the end of a run, and on their data. Stateless. */
final class LossReport {

  private static final Logger LOG = LoggerFactory.getLogger(LossReport.class);
  private static final long UNKNOWN = -1;

  private LossReport() {}

  /**
   * Reports the missing trainers whose data no other rank trains.
   *
   * @param there ranks that have reached the end
   * @param trainer null if this rank has trained nothing: the data of the others are then unknown
   */
  static RunLosses of(TrainerSession session, Set<Integer> there, FleetTrainer trainer) {
    List<Integer> missing = session.group().ranksWithOwnData().stream().filter(rank -> !there.contains(rank)).toList();
    return missing.isEmpty() ? RunLosses.NONE : of(session, missing, departed(session), trainer);
  }

  /**
   * Reports the trainers that were lost or left before the end of a run that has failed, as far as it is known. A
   * trainer that is still running is not missing.
   *
   * @param there ranks that have reached the end; empty if they have not met there
   */
  static RunLosses soFar(TrainerSession session, Optional<Set<Integer>> there, FleetTrainer trainer) {
    if (there.isPresent()) {
      return of(session, there.get(), trainer);
    }
    if (session.group().ranksWithOwnData().isEmpty()) {
      return RunLosses.NONE;
    }
    Map<Integer, DepartedTrainer> departed = departed(session);
    List<Integer> gone = departed.keySet().stream().filter(rank -> rank != session.trainer().rank()).sorted().toList();
    return of(session, gone, departed, trainer);
  }

  private static RunLosses of(TrainerSession session, List<Integer> missing, Map<Integer, DepartedTrainer> departed,
      FleetTrainer trainer) {
    IntFunction<List<DataShare>> shares = trainer == null ? position -> List.of() : trainer::sharesOf;
    IntFunction<TrainerProgress> starts = trainer == null ? rank -> TrainerProgress.NONE : trainer::startOf;
    JobConfig job = session.job();
    return new RunLosses(missing.stream().map(rank -> lost(job, rank, departed.get(rank), shares, starts.apply(rank))).toList(),
        job.onTrainerLost() == OnTrainerLost.CONTINUE);
  }

  private static Map<Integer, DepartedTrainer> departed(TrainerSession session) {
    try {
      return session.await("report on lost trainers", session.group().departed()).stream()
          .collect(Collectors.toMap(DepartedTrainer::rank, Function.identity(), (former, latter) -> latter));
    } catch (RegattaException e) {
      LOG.warn("trainer {} of job {} cannot find out how far the lost trainers were: {}", session.trainer().rank(), session.job().job(),
          e.getMessage());
      return Map.of();
    }
  }

  /**
   * Reports one trainer.
   *
   * @param departed null if its progress is not known
   * @param shares of the data, by position
   * @param start progress with which the trainer began this incarnation of the run
   */
  static LostTrainer lost(JobConfig job, int rank, DepartedTrainer departed, IntFunction<List<DataShare>> shares,
      TrainerProgress start) {
    List<DataShare> own = new ArrayList<>();
    long owed = 0;
    for (int replica = 0; replica < job.threads(); replica++) {
      int position = rank * job.threads() + replica;
      List<DataShare> some = shares.apply(position);
      own.addAll(some);
      long its = start.replicas().isEmpty() ? owed(job, some)
          : replica >= start.replicas().size() ? UNKNOWN // the previous incarnation had fewer threads
          : owed(job, some, position, start.replicas().get(replica));
      owed = owed < 0 || its < 0 ? UNKNOWN : owed + its;
    }
    long examples = departed == null ? UNKNOWN : departed.examples();
    long untrained = owed < 0 || examples < 0 ? UNKNOWN : Math.max(0, owed - examples);
    return new LostTrainer(rank, departed != null && departed.left(), departed == null ? UNKNOWN : departed.lastStep(), examples,
        untrained, own.stream().flatMap(of -> of.files().stream()).distinct().toList(), words(own));
  }

  /** Returns the examples of one pass; unknown if they cannot be counted without reading. */
  private static long ofPass(List<DataShare> shares) {
    return shares.isEmpty() || shares.stream().anyMatch(of -> of.examples() < 0) ? UNKNOWN
        : shares.stream().mapToLong(DataShare::examples).sum();
  }

  /** Returns the examples that a position must train in a new run. */
  private static long owed(JobConfig job, List<DataShare> shares) {
    long pass = ofPass(shares);
    return pass < 0 ? UNKNOWN : Math.min(pass * job.epochs(), most(job, 0));
  }

  /**
   * Returns the examples that a position must train in a resumed run. They are unknown if its position in the data is,
   * or if it reads parts of a pass that another number of positions had begun.
   */
  private static long owed(JobConfig job, List<DataShare> shares, int position, TrainerProgress.Replica start) {
    long pass = ofPass(shares);
    if (pass < 0 || shares.size() > 1 || start.parts().size() != 1) {
      return UNKNOWN;
    }
    TrainerProgress.Part part = start.parts().get(0);
    if (part.part() != position || part.of() != shares.get(0).positions() || part.stride() != 1) {
      return UNKNOWN;
    }
    long left = (job.epochs() - part.pass()) * pass - Math.min(pass, part.batches() * job.batchSize());
    return Math.max(0, Math.min(left, most(job, start.localSteps())));
  }

  /** Returns the examples of the steps that the job allows after these. */
  private static long most(JobConfig job, long localSteps) {
    return job.maxSteps() > 0 ? Math.max(0, job.maxSteps() - localSteps) * job.batchSize() : Long.MAX_VALUE;
  }

  /** Returns a description, for example {@code part 2 of 2 of train.txt}, or {@code files part-2, part-3}. */
  private static String words(List<DataShare> shares) {
    List<String> files = shares.stream().flatMap(of -> of.files().stream()).distinct().toList();
    if (!files.isEmpty()) {
      return (files.size() == 1 ? "file " : "files ") + String.join(", ", files);
    }
    return shares.stream().map(of -> "part " + (of.position() + 1) + " of " + of.positions() + " of " + of.source()).distinct()
        .collect(Collectors.joining(", "));
  }
}
