package io.regatta.fleet;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.serve.Predictor;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
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

  @Parameters(paramLabel = "FILE", arity = "1..*", description = "text files; - for standard input")
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
        try (BufferedReader in = open(file)) {
          predict(predictor, file, in, out);
        } catch (IOException e) {
          throw new InvalidInput(file + " cannot be read: " + e, e);
        }
      }
    }
    out.flush();
    return Regatta.DONE;
  }

  private static BufferedReader open(String file) throws IOException {
    return file.equals("-") ? new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
        : Files.newBufferedReader(Path.of(file));
  }

  private void predict(Predictor predictor, String file, BufferedReader in, PrintWriter out) throws IOException {
    long before = 0;
    List<String> lines = new ArrayList<>(batch);
    do {
      lines.clear();
      for (String line; lines.size() < batch && (line = in.readLine()) != null; ) {
        lines.add(line);
      }
      try {
        for (float score : predictor.predict(lines).join().scores()) {
          out.println(score);
        }
      } catch (CompletionException e) {
        throw e.getCause() instanceof InvalidInput bad
            ? new InvalidInput(file + ", behind line " + before + ": " + bad.getMessage(), bad) : e;
      }
      before += lines.size();
    } while (lines.size() == batch);
  }
}
