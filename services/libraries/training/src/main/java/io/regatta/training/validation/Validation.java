package io.regatta.training.validation;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.metrics.EarlyStopping.Verdict;
import io.regatta.snapshot.ManifestFile;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.EvaluationRecord;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The evaluations of a run on validation rows, after each pass and every {@code data.validation.every_steps} steps, and
 * what follows from them by {@code early_stopping}: the model of the best one is saved in the job's output, its test
 * metrics are the result's, and training may end. All replicas get the same metrics, bit by bit, and so decide the
 * same; one of them writes the evaluations beside the snapshots, and a resumed run continues them. One per replica, on
 * its model thread; all replicas make the same calls, except that some may have fewer steps in a pass.
 */
public final class Validation {

  /** The rows to evaluate on. All replicas call a method together, and get the same. */
  public interface Rows {
    Measured validation();

    Measured test();
  }

  private static final int DIGEST_BITS = 52;

  private final Worker worker;
  private final JobConfig job;
  private final FleetTrainer trainer;
  private final Rows rows;
  private final OverfitWarning overfit;
  private final List<EvaluationRecord> evaluations = new ArrayList<>();
  private Verdict verdict = new Verdict(-1, 0, false);
  /** Evaluations within passes that were due at this replica's last step. */
  private long due;

  /** @param trainer initialized */
  public Validation(Worker worker, FleetTrainer trainer, Rows rows) {
    this.worker = worker;
    this.job = worker.job();
    this.trainer = trainer;
    this.rows = rows;
    overfit = new OverfitWarning(worker);
  }

  /**
   * Begins training; a resumed run continues its evaluations, and makes the one that was due at the step of its snapshot.
   *
   * @param epoch of the pass in which it resumes, from 1
   */
  public void begin(int epoch) {
    due = dueSteps();
    long step = agreedStep();
    if (step == 0) {
      return;
    }
    if (job.hasPlace()) {
      evaluations.addAll(EvaluationFile.read(place(), trainer.run(), step));
      requireSame();
      forgetIfModelIsLost();
      evaluations.forEach(worker::evaluated);
      verdict = verdict();
      if (verdict.best() >= 0 && !job.output().isBlank()) {
        worker.keep(Path.of(job.output()));
        reportTest(evaluations.get(verdict.best()).test());
      }
    }
    long every = job.data().validation().everySteps();
    if (every > 0 && step % every == 0 && isNew(step)) {
      evaluate(epoch, step, Map.of());
    }
  }

  /** Returns true if training is over by the rule of early stopping. */
  public boolean isOver() {
    return verdict.over();
  }

  /** Returns true if the model of the best evaluation is the result, and its test metrics have been reported. */
  public boolean hasBest() {
    return verdict.best() >= 0;
  }

  /**
   * Notes a step, after which an evaluation may be due.
   *
   * @param epoch from 1
   * @param train returns the metrics of the pass so far, over all replicas, which all call it
   */
  public void stepped(int epoch, Supplier<Map<String, Double>> train) {
    long now = dueSteps();
    if (now > due && !isOver()) {
      meet(false);
      evaluateIfNew(epoch, train);
      due = dueSteps();
    }
  }

  /**
   * Notes the end of a pass on this replica. It takes part in evaluations that are due for others, until all have ended
   * their passes, and then in that of the pass.
   */
  public void passed(int epoch, Supplier<Map<String, Double>> train) {
    while (job.data().validation().everySteps() > 0 && !isOver() && !meet(true)) {
      evaluateIfNew(epoch, train);
    }
    if (!isOver()) {
      evaluateIfNew(epoch, train);
    }
    due = dueSteps(); // a replica without a batch may have taken part in steps of the others
  }

  private long dueSteps() {
    long every = job.data().validation().everySteps();
    return every == 0 ? 0 : trainer.steps() / every;
  }

  /** Meets the other replicas; returns true if all have ended their passes. */
  private boolean meet(boolean ended) {
    return worker.allReduce(new double[] {ended ? 0 : 1}, ReduceOp.SUM)[0] == 0;
  }

  private long agreedStep() {
    return (long) worker.allReduce(new double[] {trainer.steps()}, ReduceOp.MAX)[0];
  }

  private boolean isNew(long step) {
    return evaluations.isEmpty() || evaluations.get(evaluations.size() - 1).step() < step;
  }

  /** Evaluates, unless nothing was trained since the last evaluation, or the pass was trained before the run resumed. */
  private void evaluateIfNew(int epoch, Supplier<Map<String, Double>> train) {
    worker.settle(trainer); // the evaluation uses what all have learned, in every mode
    long step = agreedStep();
    boolean behind = worker.allReduce(new double[] {trainer.isBehind() ? 1 : 0}, ReduceOp.SUM)[0] > 0;
    if (isNew(step) && !behind && step > 0) {
      evaluate(epoch, step, train.get());
    }
  }

  private void evaluate(int epoch, long step, Map<String, Double> train) {
    worker.settle(trainer);
    Measured measured = rows.validation();
    EvaluationRecord record = new EvaluationRecord(epoch, step, train, measured.metrics(), Map.of());
    if (evaluations.isEmpty()) {
      requireMetric(measured);
    }
    evaluations.add(record);
    verdict = verdict();
    if (verdict.lastIsBest()) {
      record = new EvaluationRecord(epoch, step, train, measured.metrics(), rows.test().metrics());
      evaluations.set(evaluations.size() - 1, record);
      reportTest(record.test());
      if (!job.output().isBlank()) {
        worker.save(trainer, Path.of(job.output()));
      }
    }
    worker.evaluated(record);
    if (worker.isFirstWorker() && job.hasPlace()) {
      EvaluationFile.write(place(), trainer.run(), evaluations);
    }
    worker.progress().line(line(record));
    overfit.compare("after epoch " + epoch, train, "validation", measured);
  }

  /**
   * Begins the comparison of models anew if the output does not hold the model of the best evaluation: a run may end
   * after it has saved a better model, and before it has noted that.
   */
  private void forgetIfModelIsLost() {
    int best = verdict().best();
    if (best < 0 || job.output().isBlank()) {
      return;
    }
    long before = best == 0 ? 0 : evaluations.get(best - 1).step();
    long lost = worker.isFirstWorker() && !holdsModel(before, evaluations.get(best).step()) ? 1 : 0;
    if (worker.allReduce(new double[] {lost}, ReduceOp.SUM)[0] > 0) {
      worker.progress().line("the model of the best evaluation so far, at step " + evaluations.get(best).step() + ", is not in "
          + job.output() + "; models are compared anew from here on");
      evaluations.clear();
    }
  }

  /** Returns true if the output holds a model of this run from the steps after one step, up to another. */
  private boolean holdsModel(long after, long upTo) {
    try {
      JsonObject manifest = ManifestFile.read(Path.of(job.output()));
      long step = manifest.getLong("step", -1L);
      return trainer.run().equals(manifest.getString("run")) && after < step && step <= upTo;
    } catch (InvalidInput | ClassCastException e) {
      return false;
    }
  }

  private void requireMetric(Measured measured) {
    String metric = job.earlyStopping().metric();
    if (job.earlyStopping().isOn() && !measured.metrics().containsKey(metric)) {
      throw new InvalidInput("job " + job.job() + ": early_stopping.metric is '" + metric + "', but the metrics of this model are "
          + String.join(", ", measured.metrics().keySet()));
    }
  }

  private Verdict verdict() {
    if (!job.earlyStopping().isOn()) {
      return verdict;
    }
    return job.earlyStopping().rule().verdict(evaluations.stream()
        .mapToDouble(each -> each.validation().getOrDefault(job.earlyStopping().metric(), Double.NaN)).toArray());
  }

  private void reportTest(Map<String, Double> metrics) {
    metrics.forEach(worker::report);
    worker.report("best_epoch", evaluations.get(verdict.best()).epoch());
    worker.report("best_step", evaluations.get(verdict.best()).step());
  }

  private String line(EvaluationRecord record) {
    StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "epoch %d, step %d:", record.epoch(), record.step()));
    record.train().forEach((name, value) -> line.append(String.format(Locale.ROOT, " train %s %.5f,", name, value)));
    String shown = job.earlyStopping().isOn() ? job.earlyStopping().metric()
        : record.validation().keySet().stream().findFirst().orElse("");
    line.append(shown.isEmpty() ? " validation without metrics"
        : String.format(Locale.ROOT, " validation %s %.5f", shown, record.validation().get(shown)));
    if (job.earlyStopping().isOn()) {
      line.append(verdict.lastIsBest() ? ", the best so far" : ", the best was in epoch " + (verdict.best() < 0 ? "none"
          : evaluations.get(verdict.best()).epoch() + " at step " + evaluations.get(verdict.best()).step()));
      line.append(verdict.over() ? "; training ends, after " + job.earlyStopping().patience() + " without an improvement" : "");
    }
    return line.toString();
  }

  /** Returns the directory of the file of evaluations. */
  private Path place() {
    return Path.of(job.snapshots().dir().isBlank() ? job.output() : job.snapshots().dir());
  }

  /** Checks that all replicas have read the same evaluations, from a directory that all trainers see. */
  private void requireSame() {
    double[] mine = {(double) (Integer.toUnsignedLong(evaluations.hashCode()) & (1L << DIGEST_BITS) - 1)};
    if (worker.allReduce(mine, ReduceOp.MIN)[0] != worker.allReduce(mine, ReduceOp.MAX)[0]) {
      throw new InvalidInput("job " + job.job() + ": the trainers read different evaluations from " + place().resolve(EvaluationFile.NAME)
          + "; resume with a directory for snapshots that all trainers see, or copy the file to all machines");
    }
  }
}
