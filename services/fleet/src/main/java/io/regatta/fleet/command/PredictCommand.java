package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.FileSource;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.file.DataFiles;
import io.regatta.fleet.command.output.Report;
import io.regatta.predictor.Predictor;
import io.regatta.training.config.DataConfig;
import io.regatta.training.evaluation.Evaluation;
import io.regatta.training.evaluation.Predictions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command that predicts the lines of files with a saved model. Owned by the main thread. */
@Command(name = "predict", mixinStandardHelpOptions = true,
    description = "Predicts the examples in files of the format that the model was trained on; prints the scores of each in a line.")
final class PredictCommand implements Callable<Integer> {

  /** Most bytes of the examples that are computed together. */
  private static final long BATCH_BYTES_MAX = 64L << 20;

  @Spec
  private CommandSpec spec;

  @Option(names = "--model", required = true, paramLabel = "DIR", description = "the model, as a run saved it (output)")
  private Path model;

  @Option(names = "--snapshot", paramLabel = "DIR", description = "a later snapshot, whose values are to be used, or a "
      + "directory of snapshots: the last one")
  private Path snapshot;

  @Option(names = "--batch", paramLabel = "N", defaultValue = "1024",
      description = "examples that are computed together (default: ${DEFAULT-VALUE})")
  private int batch;

  @Option(names = "--format", description = "how the files are written: ${COMPLETION-CANDIDATES}, as far as the program "
      + "reads them (default: as those that the model was trained on, data.format)")
  private DataConfig.Format format;

  @Option(names = "--metrics", description = "prints metrics of the predictions of all files on standard error at "
      + "the end: AUC, accuracy and others, with GAUC if the model was trained with settings.gauc_slot; the files must hold labels")
  private boolean metrics;

  @Parameters(paramLabel = "FILE", arity = "1..*", description = "packed (.gz) or not; - for standard input")
  private List<String> files;

  @Override
  public Integer call() {
    if (batch < 1) {
      throw new InvalidInput("--batch must be at least 1, not " + batch);
    }
    PrintWriter out = spec.commandLine().getOut();
    try (Predictor predictor = Predictor.load(model, null, format)) {
      if (snapshot != null) {
        predictor.take(NamedSnapshot.of("--snapshot", snapshot, spec.commandLine().getErr()));
      }
      Evaluation evaluation = metrics ? predictor.evaluation().orElseThrow(() -> new InvalidInput(
          "the program of model " + model + " has no metrics of its predictions: leave --metrics out")) : null;
      for (String file : files) {
        predict(predictor.examples(List.of(file.equals("-") ? standardInput() : DataFiles.path(file))), predictor, out,
            evaluation, file);
      }
      if (evaluation != null) {
        out.flush();
        print(evaluation);
      }
    }
    out.flush();
    return Report.DONE;
  }

  /** Copies standard input, which can be read only once, to a file. */
  private static Path standardInput() {
    try {
      Path file = Files.createTempFile("regatta-predict", ".txt");
      file.toFile().deleteOnExit();
      Files.copy(System.in, file, StandardCopyOption.REPLACE_EXISTING);
      return file;
    } catch (IOException e) {
      throw new InvalidInput("standard input cannot be read: " + e, e);
    }
  }

  private void print(Evaluation evaluation) {
    StringJoiner line = new StringJoiner(", ");
    evaluation.report((name, value) ->
        line.add(String.format(Locale.ROOT, value == Math.rint(value) ? "%s %.0f" : "%s %.5f", name, value)));
    PrintWriter err = spec.commandLine().getErr();
    err.println(line);
    err.flush();
  }

  /**
   * Predicts all examples of a source.
   *
   * @param evaluation gets the predictions; null: nobody does
   * @param file for messages
   */
  private <R> void predict(FileSource<R> source, Predictor predictor, PrintWriter out, Evaluation evaluation, String file) {
    try (SlotSource.Cursor<R> records = source.open()) {
      int most = (int) Math.max(1, Math.min(batch, BATCH_BYTES_MAX / SlotBatch.bytes(source.layout())));
      SlotBatch examples;
      do {
        examples = SlotBatch.allocate(source.layout(), most);
        int n = 0;
        for (R record; n < most && (record = records.next()) != null; ) {
          n += source.parse(record, examples, n) ? 1 : 0;
        }
        examples = examples.first(n);
        Predictor.Prediction prediction = predictor.predict(examples).join();
        float[] scores = prediction.scores();
        print(scores, prediction.outputs(), out);
        if (evaluation != null) {
          Predictions predictions = Predictions.of(scores, examples);
          requireLabels(evaluation, predictions, file);
          evaluation.add(predictions);
        }
      } while (examples.rows() == most);
    }
  }

  /** Prints a line for each example: its scores, with tabs between them. */
  private static void print(float[] scores, int width, PrintWriter out) {
    for (int i = 0; i < scores.length; i++) {
      out.print(scores[i]);
      out.print((i + 1) % width == 0 ? "\n" : "\t");
    }
  }

  /** Refuses examples without any label, which some programs accept for predictions. */
  private static void requireLabels(Evaluation evaluation, Predictions predictions, String file) {
    if (evaluation.lacksLabels(predictions)) {
      throw new InvalidInput("--metrics: " + file + " has rows without a label; give files with the label's column, or leave --metrics "
          + "out");
    }
  }
}
