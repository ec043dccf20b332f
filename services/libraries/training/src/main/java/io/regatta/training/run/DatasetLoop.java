package io.regatta.training.run;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.loop.Clock;
import io.regatta.training.FetchHandler;
import io.regatta.training.TrainingReport;
import io.regatta.training.Worker;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.replica.StepTimes.Part;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One pass of {@link Worker#trainFromDataset}. Belongs to the model thread. */
final class DatasetLoop {

  private static final Logger log = LoggerFactory.getLogger(DatasetLoop.class);

  private final Worker worker;
  private final Clock clock;
  private final FleetTrainer trainer;
  private final FetchHandler fetch;
  private final int everyBatches;
  private final boolean debug;

  private float batchLoss;
  private double lossSum;
  private long examples;
  private long steps;
  private long shownNanos;
  private double shownLossSum;
  private long shownExamples;
  private long shownSteps;
  private long[] shownParts;

  DatasetLoop(Worker worker, FleetTrainer trainer, FetchHandler fetch, int everyBatches, boolean debug) {
    if (everyBatches < 1) {
      throw new InvalidInput("trainFromDataset: everyBatches must be at least 1, not " + everyBatches);
    }
    this.worker = worker;
    this.trainer = trainer;
    clock = trainer.times().clock();
    this.fetch = fetch;
    this.everyBatches = everyBatches;
    this.debug = debug;
  }

  TrainingReport run(Dataset dataset) {
    long begin = clock.nanos();
    long[] before = trainer.times().snapshot();
    shownNanos = begin;
    shownParts = before;
    long limit = worker.job().maxSteps();
    try {
      if (limit == 0 || trainer.steps() < limit) {
        trainer.trainsOn(dataset);
        for (Batch batch : trainer.iterateDataset(dataset)) {
          try (batch) {
            train(batch);
          }
          if (fetch != null && fetch.isEnough()) {
            break;
          }
        }
      }
      if (fetch != null) {
        fetch.passed();
      }
    } catch (IOException | TranslateException e) {
      throw new InvalidInput("trainer " + worker.rank() + ", step " + trainer.steps() + ": the data set could not be "
          + "read: " + e.getMessage(), e);
    }
    if (steps > 0 && shownSteps == 0) { // a pass too short for a fetch shows its loss at its end
      worker.progress().metric("loss", lossSum / examples);
    }
    TrainingReport report = report(clock.nanos() - begin, before, trainer.times().snapshot());
    if (debug) {
      log.info("trainer {} replica {}: {}", worker.rank(), worker.replica(), report.sentence());
    }
    return report;
  }

  private void train(Batch batch) {
    NDArray loss;
    NDList predictions;
    trainer.setExamples(batch.getSize());
    try (GradientCollector collector = trainer.newGradientCollector()) {
      predictions = trainer.forward(batch.getData(), batch.getLabels());
      loss = trainer.getLoss().evaluate(batch.getLabels(), predictions);
      collector.backward(loss);
    }
    trainer.step();
    batchLoss = loss.getFloat();
    lossSum += (double) batchLoss * batch.getSize();
    examples += batch.getSize();
    steps++;
    worker.progress().advance(batch.getSize());
    if (fetch != null) {
      fetch.trained(batch, predictions, batchLoss);
    }
    if (steps % everyBatches == 0) {
      fetched();
    }
  }

  private void fetched() {
    long now = clock.nanos();
    long[] parts = trainer.times().snapshot();
    Map<String, Double> values = new LinkedHashMap<>();
    values.put("loss", (lossSum - shownLossSum) / (examples - shownExamples));
    values.put("batch_loss", (double) batchLoss);
    values.put("examples_per_second", (examples - shownExamples) * 1e9 / (now - shownNanos));
    if (debug) {
      for (Part part : Part.values()) {
        values.put(part.name().toLowerCase(Locale.ROOT) + "_ms",
            (parts[part.ordinal()] - shownParts[part.ordinal()]) / 1e6 / (steps - shownSteps));
      }
      log.info("trainer {} replica {} step {}: {}", worker.rank(), worker.replica(), trainer.steps(), values);
    }
    worker.progress().metric("loss", values.get("loss"));
    if (fetch != null) {
      fetch.fetched(trainer.steps(), values);
    }
    shownNanos = now;
    shownParts = parts;
    shownLossSum = lossSum;
    shownExamples = examples;
    shownSteps = steps;
  }

  private TrainingReport report(long nanos, long[] before, long[] after) {
    double[] seconds = new double[after.length];
    for (int i = 0; i < seconds.length; i++) {
      seconds[i] = (after[i] - before[i]) / 1e9;
    }
    return new TrainingReport(steps, examples, nanos / 1e9, examples > 0 ? lossSum / examples : Double.NaN,
        seconds[Part.READ.ordinal()], seconds[Part.PULL.ordinal()], seconds[Part.FORWARD.ordinal()],
        seconds[Part.BACKWARD.ordinal()], seconds[Part.PUSH.ordinal()]);
  }
}
