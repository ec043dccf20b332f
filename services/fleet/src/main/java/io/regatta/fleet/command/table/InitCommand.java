package io.regatta.fleet.command.table;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.feature.TableLook;
import io.regatta.data.file.DataFiles;
import io.regatta.fleet.command.output.Report;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command that proposes a job file for a table, after a look at its first rows. */
@Command(name = "init", mixinStandardHelpOptions = true,
    description = "Proposes a job file for a table of named columns, after a look at its first rows: features, label, split, model.")
public final class InitCommand implements Callable<Integer> {

  @Spec
  private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "FILE", description = "training rows: CSV, TSV, lines of JSON objects, Parquet or LibSVM")
  private String file;

  @Option(names = "--format", paramLabel = "FORMAT", defaultValue = "", description = "csv, tsv, json, parquet or libsvm (default: by name "
      + "and first line)")
  private String format;

  @Option(names = "--label", paramLabel = "COLUMN", defaultValue = "", description = "column to predict (default: the likeliest one of "
      + "two values)")
  private String label;

  @Option(names = "--positive", paramLabel = "TEXT", defaultValue = "", description = "its value that is 1 (default: the likelier one)")
  private String positive;

  @Option(names = "--rows", paramLabel = "N", defaultValue = "50000", description = "rows to look at (default: ${DEFAULT-VALUE})")
  private int rows;

  @Option(names = "--to", paramLabel = "FILE", defaultValue = "", description = "job file to write; - for standard output (default: NAME.yaml "
      + "in the working directory)")
  private String to;

  @Override
  public Integer call() {
    if (rows < 1) {
      throw new InvalidInput("--rows must be at least 1, not " + rows);
    }
    Path path = DataFiles.path(file);
    String name = path.getFileName().toString().replaceFirst("\\.gz$", "").replaceFirst("\\.[A-Za-z]+$", "").replaceAll("[^A-Za-z0-9_.-]", "-");
    String parent = path.toAbsolutePath().getParent().getFileName() == null ? "" : path.toAbsolutePath().getParent().getFileName().toString();
    String job = name.matches("train(ing)?") && !parent.isEmpty() ? parent.replaceAll("[^A-Za-z0-9_.-]", "-") : name;
    Path target = to.isEmpty() ? Path.of(job + ".yaml") : Path.of(to);
    if (!to.equals("-") && Files.exists(target)) {
      throw new InvalidInput(target + " exists; remove it, or name another file with --to");
    }
    String text = proposal(path, job).text();
    PrintWriter out = spec.commandLine().getOut();
    if (to.equals("-")) {
      out.print(text);
      out.flush();
      return Report.DONE;
    }
    try {
      Files.writeString(target, text);
    } catch (IOException e) {
      throw new InvalidInput(target + " cannot be written: " + e, e);
    }
    Report.say(out, target + " is a proposal; lines with a question mark need you:");
    text.lines().filter(line -> line.contains("?") && line.strip().startsWith("#")).forEach(line ->
        Report.say(out, "  " + line.strip().substring(1).strip()));
    Report.say(out, "next: ./regatta analyze " + target + ", then ./regatta simulate " + target);
    return Report.DONE;
  }

  private JobProposal proposal(Path path, String job) {
    TableLook first = TableLook.at(path, format, rows);
    ProposedLabel proposed = ProposedLabel.of(first, label, positive);
    TableLook look = first.withLabel(proposed.column(), proposed.positive(), rows);
    ProposedFeatures features = new ProposedFeatures(look, proposed.column());
    if (features.count() == 0) {
      throw new InvalidInput(path + " has no column from which " + proposed.column() + " could be learned; is the label another one "
          + "(--label)?");
    }
    return new JobProposal(job, look, proposed, features, testFile(path, look, proposed.column()));
  }

  /** Returns the file of test rows beside {@code train}, if it has the label; else null. */
  private static Path testFile(Path train, TableLook look, String label) {
    String name = train.getFileName().toString();
    if (!name.startsWith("train")) {
      return null;
    }
    Path test = train.resolveSibling("test" + name.substring("train".length()));
    if (!Files.isRegularFile(test)) {
      return null;
    }
    TableLook there = TableLook.at(test, look.format(), 1);
    return there.columns().containsKey(label) ? test : null;
  }
}
