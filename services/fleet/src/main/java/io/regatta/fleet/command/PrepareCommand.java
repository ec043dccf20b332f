package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import io.regatta.data.BadLines;
import io.regatta.data.file.DataFiles;
import io.regatta.data.generate.CriteoGenerator;
import io.regatta.data.generate.GeneratedCriteo;
import io.regatta.data.prepare.Preparation;
import io.regatta.data.prepare.Preparations;
import io.regatta.data.text.Dictionary;
import io.regatta.fleet.command.output.Report;
import io.regatta.node.process.Interrupt;
import io.regatta.training.run.ConsoleProgress;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.LongConsumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The commands that prepare data before training. Owned by the main thread. */
@Command(name = "prepare", mixinStandardHelpOptions = true,
    description = "Cuts data into parts, makes dictionaries, normalises and hashes, generates data.")
final class PrepareCommand implements Runnable {

  @Spec
  private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "say what to prepare: split, dictionary, criteo or generate");
  }

  /** The options for output in parts. */
  static final class Parts {

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "text files, in this order; also packed (.gz), or URIs (s3:)")
    private List<String> names;

    @Option(names = "--parts", required = true, paramLabel = "N", description = "how many to make")
    private int parts;

    @Option(names = "--to", required = true, paramLabel = "DIR", description = "directory of the parts")
    private Path to;

    @Option(names = "--name", paramLabel = "NAME",
        description = "they are called NAME-00000, NAME-00001 ...; default: the name of the first file, without .gz")
    private String name;

    @Option(names = "--threads", paramLabel = "N", description = "default: the number of processors")
    private int threads = Runtime.getRuntime().availableProcessors();

    List<Path> files() {
      return names.stream().map(DataFiles::path).toList();
    }

    Preparation.Output output() {
      return new Preparation.Output(to, name == null ? Preparation.Output.nameOf(files().get(0)) : name, parts, threads);
    }

    void run(Preparation preparation, PrintWriter out) {
      try (preparation; Interrupt interrupt = Interrupt.closes(() -> {
            preparation.close();
            return Future.fromCompletionStage(preparation.ended());
          });
          ConsoleProgress progress = ConsoleProgress.create("prepare", "")) {
        int made = preparation.run(progress);
        Report.say(out, made + " of " + parts + " parts made in " + to + (made < parts ? ", the others were there" : ""));
      }
    }
  }

  @Command(name = "split", mixinStandardHelpOptions = true,
      description = "Cuts text files into parts of about as many bytes, at line ends. Started again, it goes on.")
  int split(@Mixin Parts parts) {
    parts.run(Preparations.split(parts.files(), parts.output()), spec.commandLine().getOut());
    return Report.DONE;
  }

  @Command(name = "criteo", mixinStandardHelpOptions = true, description = "Normalises and hashes files in the Criteo format, "
      + "and writes them as text of slots, in parts. Started again, it goes on.")
  int criteo(@Mixin Parts parts,
      @Option(names = "--id-space", paramLabel = "N", defaultValue = "1000001",
          description = "ids are below this (default: ${DEFAULT-VALUE})") long idSpace,
      @Option(names = "--format", defaultValue = "MULTISLOT",
          description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})") Preparations.Format format,
      @Option(names = "--on-bad-line", defaultValue = "FAIL",
          description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})") BadLines.Policy policy) {
    BadLines badLines = BadLines.ofCommand(policy, "--on-bad-line skip");
    PrintWriter out = spec.commandLine().getOut();
    parts.run(Preparations.criteo(parts.files(), parts.output(), idSpace, format, badLines), out);
    if (badLines.skipped() > 0) {
      Report.say(out, badLines.skipped() + (badLines.skipped() == 1 ? " bad line" : " bad lines") + " left out");
    }
    return Report.DONE;
  }

  @Command(name = "dictionary", mixinStandardHelpOptions = true,
      description = "Counts the words of text files, and writes those that come often enough, most frequent first.")
  int dictionary(@Parameters(arity = "1..*", paramLabel = "FILE",
      description = "text files; also packed (.gz), or URIs (s3:)") List<String> files,
      @Option(names = "--min-count", paramLabel = "N", defaultValue = "50",
          description = "words that come less often are <unk> (default: ${DEFAULT-VALUE})") int minCount,
      @Option(names = "--threads", paramLabel = "N", description = "default: the number of processors") Integer threads,
      @Option(names = "--to", required = true, paramLabel = "FILE", description = "the dictionary") Path to,
      @Option(names = "--overwrite", description = "in the place of a file that is there") boolean overwrite) {
    if (Files.exists(to) && !overwrite) {
      throw new InvalidInput(to.toAbsolutePath() + " is there already; choose another file with --to, or replace it with "
          + "--overwrite");
    }
    int counting = threads == null ? Runtime.getRuntime().availableProcessors() : threads;
    if (counting < 1) {
      throw new InvalidInput("--threads is " + counting + " but must be at least 1");
    }
    Dictionary dictionary;
    try (ConsoleProgress progress = ConsoleProgress.create("prepare", "")) {
      dictionary = Dictionary.of(files.stream().map(DataFiles::path).toList(), minCount, counting, progress.loading("dictionary"));
      progress.end();
    }
    try {
      WholeFile.write(to, dictionary::write);
    } catch (IOException e) {
      throw new InvalidInput("the dictionary cannot be written to " + to.toAbsolutePath() + ": " + e
          + "; choose another file with --to", e);
    }
    Report.say(spec.commandLine().getOut(), dictionary.size() + " words in " + to);
    return Report.DONE;
  }

  @Command(name = "generate", mixinStandardHelpOptions = true,
      description = "Makes files in the Criteo format, whose best possible AUC is known. Started again, it goes on.")
  int generate(@Option(names = "--rows", paramLabel = "N", defaultValue = "200000",
      description = "training rows (default: ${DEFAULT-VALUE})") int rows,
      @Option(names = "--test-rows", paramLabel = "N", defaultValue = "40000",
          description = "test rows (default: ${DEFAULT-VALUE})") int testRows,
      @Option(names = "--parts", paramLabel = "N", defaultValue = "4",
          description = "training files (default: ${DEFAULT-VALUE})") int parts,
      @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "of all that is drawn") long seed,
      @Option(names = "--to", required = true, paramLabel = "DIR", description = "an empty directory, or none yet") Path to,
      @Option(names = "--overwrite", description = "in the place of other generated data that are there") boolean overwrite) {
    CriteoGenerator.Size size = new CriteoGenerator.Size(seed, rows, testRows, parts);
    String others = overwrite ? null : CriteoGenerator.others(to, size);
    if (others != null) {
      throw new InvalidInput(others + "; choose another directory with --to, or replace what is there with --overwrite");
    }
    GeneratedCriteo made = generate(to, size, overwrite);
    Report.say(spec.commandLine().getOut(), String.format(Locale.ROOT, "%d training rows in %d files and %d test rows in %s; "
        + "best possible test AUC %.4f, log loss %.4f", rows, parts, testRows, to, made.bestAuc(), made.bestLogloss()));
    return Report.DONE;
  }

  private static GeneratedCriteo generate(Path to, CriteoGenerator.Size size, boolean overwrite) {
    Thread caller = Thread.currentThread();
    Promise<Void> ended = Promise.promise();
    try (Interrupt interrupt = Interrupt.closes(() -> {
          caller.interrupt();
          return ended.future();
        });
        ConsoleProgress progress = ConsoleProgress.create("prepare", "")) {
      progress.begin("generate", (long) size.trainRows() + size.testRows(), "rows");
      long[] shown = {0};
      LongConsumer advance = rows -> {
        progress.advance(rows - shown[0]);
        shown[0] = rows;
      };
      GeneratedCriteo made = overwrite ? CriteoGenerator.replace(to, size, advance)
          : CriteoGenerator.ensure(to, size, advance);
      progress.end();
      return made;
    } finally {
      ended.complete();
    }
  }
}
