package io.regatta.fleet;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.data.BadLines;
import io.regatta.trainer.data.DataFiles;
import io.regatta.trainer.data.Line;
import io.regatta.trainer.data.SlotBatch;
import io.regatta.trainer.data.SlotSource;
import io.regatta.trainer.data.TextSource;
import io.regatta.trainer.serve.Predictor;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Has a saved model predict the lines of files. Owned by the main thread. */
@Command(name = "predict", mixinStandardHelpOptions = true,
    description = "Predicts examples, one per line, in the format that the model was trained on; prints a number for each.")
final class PredictCommand implements Callable<Integer> {

  @Spec
  private CommandSpec spec;

  @Option(names = "--model", required = true, paramLabel = "DIR", description = "the model, as a run saved it (output)")
  private Path model;

  @Option(names = "--snapshot", paramLabel = "DIR", description = "a later snapshot, whose values are to be used")
  private Path snapshot;

  @Option(names = "--batch", paramLabel = "N", defaultValue = "1024",
      description = "examples that are computed together (default: ${DEFAULT-VALUE})")
  private int batch;

  @Parameters(paramLabel = "FILE", arity = "1..*", description = "text files, packed (.gz) or not; - for standard input")
  private List<String> files;

  @Override
  public Integer call() {
    if (batch < 1) {
      throw new InvalidInput("--batch must be at least 1, not " + batch);
    }
    PrintWriter out = spec.commandLine().getOut();
    try (Predictor predictor = Predictor.load(model)) {
      if (snapshot != null) {
        predictor.take(snapshot);
      }
      for (String file : files) {
        predict(predictor, file.equals("-") ? standardInput() : DataFiles.path(file), out);
      }
    }
    out.flush();
    return Regatta.DONE;
  }

  /** What can be read once only, in a file. */
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

  private void predict(Predictor predictor, Path file, PrintWriter out) {
    TextSource source = new TextSource(predictor.input(), List.of(file), BadLines.refused());
    try (SlotSource.Cursor<Line> lines = source.open()) {
      SlotBatch examples;
      do {
        examples = SlotBatch.allocate(predictor.layout(), batch);
        int n = 0;
        for (Line line; n < batch && (line = lines.next()) != null; ) {
          n += source.parse(line, examples, n) ? 1 : 0;
        }
        examples = examples.first(n);
        for (float score : predictor.predict(examples).join().scores()) {
          out.println(score);
        }
      } while (examples.rows() == batch);
    }
  }
}
