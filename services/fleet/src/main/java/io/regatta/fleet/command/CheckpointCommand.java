package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.command.output.CheckpointPage;
import io.regatta.fleet.command.output.Report;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.ManifestFile;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.SnapshotRewrite;
import io.regatta.snapshot.Snapshots;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command for work on snapshots without a cluster. Each subcommand runs on the main thread, which it blocks. */
@Command(name = "checkpoint", mixinStandardHelpOptions = true,
    description = "Looks at snapshots, checks them, and makes other files of them.",
    subcommands = {CheckpointCommand.Inspect.class, CheckpointCommand.Verify.class, CheckpointCommand.Reshard.class,
        CheckpointCommand.Merge.class, CheckpointCommand.Export.class})
final class CheckpointCommand implements Runnable {

  @Spec
  private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing: inspect, verify, reshard, merge or export");
  }

  /** An operation on files that may fail. */
  @FunctionalInterface
  private interface OnFiles {
    void run() throws IOException;
  }

  private static int done(OnFiles deed) {
    try {
      deed.run();
      return Report.DONE;
    } catch (IOException e) {
      throw new InvalidInput("the files cannot be read or written: " + e, e);
    }
  }

  /** Prints a line about the files in a directory that was written. */
  private static void written(CommandSpec spec, Path to) {
    long bytes = 0;
    int files = 0;
    for (FileEntry file : SnapshotDirectory.files(to)) {
      bytes += file.bytes();
      files++;
    }
    Report.say(spec.commandLine().getOut(), to + ": " + files + " file" + (files == 1 ? ", " : "s, ") + bytes + " bytes");
  }

  /** The arguments of a rewrite: source and target. */
  static final class Rewritten {

    @Parameters(index = "0", paramLabel = "DIR", description = "a snapshot (what a delta is relative to lies beside it), or a "
        + "directory of snapshots: the last one")
    private Path dir;

    @Parameters(index = "1", paramLabel = "TO", description = "a new directory")
    private Path to;

    private Path from(CommandSpec spec) {
      return NamedSnapshot.of("checkpoint " + spec.name(), dir, spec.commandLine().getOut());
    }
  }

  /** The command {@code inspect}. */
  @Command(name = "inspect", mixinStandardHelpOptions = true,
      description = "Shows what a snapshot or model holds, from its manifest; of a directory of snapshots, a line for each.")
  static final class Inspect implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DIR", description = "a snapshot, a model, or a directory of snapshots")
    private Path dir;

    @Override
    public Integer call() {
      return done(() -> {
        PrintWriter out = spec.commandLine().getOut();
        List<Snapshots.Found> inside = Snapshots.list(dir);
        if (!inside.isEmpty()) {
          CheckpointPage.list(inside, out);
        }
        if (inside.isEmpty() || Files.exists(dir.resolve(ManifestFile.NAME))) {
          CheckpointPage.of(dir, out);
        }
        out.flush();
      });
    }
  }

  /** The command {@code verify}. */
  @Command(name = "verify", mixinStandardHelpOptions = true, description = {
      "Reads every byte of the models and snapshots in a directory and in those within it, and compares it with the "
          + "manifests, of a delta also what it is relative to. A line for each.",
      "Ends with status 1 and the names of damaged files and tensors if there are any."})
  static final class Verify implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DIR", description = "a model or snapshot, or a directory of them")
    private Path dir;

    @Override
    public Integer call() {
      CheckpointCheck check = new CheckpointCheck(line -> Report.say(spec.commandLine().getOut(), line),
          damage -> Report.failure(damage, spec.commandLine().getErr()));
      done(() -> check.all(dir));
      return check.damaged() == 0 ? Report.DONE : Report.FAILED;
    }
  }

  /** The command {@code reshard}. */
  @Command(name = "reshard", mixinStandardHelpOptions = true,
      description = "Writes a snapshot over another number of shards, which hold dense parts and rows alike, a delta "
          + "with all that it is relative to as a whole one. Jobs read any number of shards; this saves reading.")
  static final class Reshard implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private Rewritten files;

    @Option(names = "--shards", paramLabel = "M", required = true, description = "files that it is to have")
    private int shards;

    @Override
    public Integer call() {
      if (shards < 1) {
        throw new InvalidInput("--shards must be at least 1, not " + shards);
      }
      return done(() -> {
        SnapshotRewrite.snapshot(files.from(spec), files.to, shards);
        written(spec, files.to);
      });
    }
  }

  /** The command {@code merge}. */
  @Command(name = "merge", mixinStandardHelpOptions = true,
      description = "Writes a delta and all that it is relative to as one whole snapshot.")
  static final class Merge implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private Rewritten files;

    @Override
    public Integer call() {
      return done(() -> {
        SnapshotRewrite.snapshot(files.from(spec), files.to, 0);
        written(spec, files.to);
      });
    }
  }

  /** The command {@code export}. */
  @Command(name = "export", mixinStandardHelpOptions = true, description = "Writes the model that is in a snapshot, in the "
      + "form in which trainers save one: dense.safetensors and a file for each table, values only.")
  static final class Export implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private Rewritten files;

    @Override
    public Integer call() {
      return done(() -> {
        SnapshotRewrite.model(files.from(spec), files.to);
        written(spec, files.to);
      });
    }
  }
}
