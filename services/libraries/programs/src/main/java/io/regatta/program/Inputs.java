package io.regatta.program;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.file.DataFiles;
import io.regatta.data.generate.GeneratedTable;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The training and test files of a program that can generate its data. Immutable; used on the model thread. */
record Inputs(List<Path> train, List<Path> test) {

  /**
   * Returns the user's own files: those that the job names, and for others the program's default names in the data
   * directory.
   *
   * @param train finds the training files in the data directory
   * @param test name of the test file
   * @param generated true if the files of a directory were generated
   * @param begun true if they were generated, and may be incomplete
   * @return null if data must be generated: the job names no files, and the directory does not exist, is empty, or
   *     holds generated data
   * @throws InvalidInput if the training files would be those of incomplete generated data: some may be missing
   */
  static Inputs given(JobConfig job, Function<Path, List<Path>> train, String test, Predicate<Path> generated,
      Predicate<Path> begun) {
    Path directory = Loading.directory(job);
    List<String> files = job.data().files();
    boolean named = !files.isEmpty() || !job.data().testFiles().isEmpty();
    // Tested twice: another trainer may begin to generate in between.
    if (!named && (generated.test(directory) || DataFiles.isEmpty(directory) || generated.test(directory))) {
      return null;
    }
    if (files.isEmpty() && begun.test(directory)) {
      throw new InvalidInput("job " + job.job() + ": " + directory.toAbsolutePath() + " holds generated data that are not complete: "
          + "start the job that was generating them again (without data.test_files), name training files in data.files, or give "
          + "another directory with --data (data.dir)");
    }
    return new Inputs(files.isEmpty() ? train.apply(directory) : Loading.files(directory, files, ""),
        Loading.files(directory, job.data().testFiles(), test));
  }

  /**
   * Generates data, unless they exist. The first worker generates them while the others wait; a worker whose machine
   * does not share its files then generates them again.
   *
   * @param ensure generates the data unless they exist
   * @param onGenerated called with the data on the first worker
   */
  static <G> G generated(Worker worker, Supplier<G> ensure, Consumer<G> onGenerated) {
    if (!worker.isFirstWorker()) {
      worker.barrier();
      return ensure.get();
    }
    G made = ensure.get();
    onGenerated.accept(made);
    worker.barrier();
    return made;
  }

  /**
   * Returns the files of a program that generates data of the shape of a public data set: the user's own, or generated
   * ones. The first worker prints this in one line, and reports the best possible result.
   *
   * @param given as returned by {@link #table}
   * @param own finds the files in the data directory
   */
  static Inputs tableOrGenerated(Worker worker, GeneratedTable.Kind kind, Inputs given, Function<Path, Inputs> own) {
    if (given != null) {
      return given;
    }
    JobConfig job = worker.job();
    Path directory = Loading.directory(job);
    generated(worker, () -> GeneratedTable.ensure(directory, kind, job.seed()), made -> {
      worker.progress().line(made.line(directory));
      worker.report("best_" + (made.metric().endsWith("AUC") ? "auc" : "mse"), made.best());
    });
    return own.apply(directory);
  }

  /**
   * Returns the user's own files, for a program that generates data of the shape of a public data set; null if data
   * must be generated.
   *
   * @param own finds the files in the data directory
   * @throws InvalidInput if the data directory holds other generated data
   */
  static Inputs table(JobConfig job, GeneratedTable.Kind kind, Function<Path, Inputs> own) {
    Path directory = Loading.directory(job);
    Inputs named = own.apply(directory);
    if (!job.data().files().isEmpty() || !job.data().testFiles().isEmpty()
        || !GeneratedTable.owns(directory) && !DataFiles.isEmpty(directory) && !GeneratedTable.owns(directory)) {
      return named;
    }
    refuseOthers(job, GeneratedTable.others(directory, kind, job.seed()), "the program", null);
    return null;
  }

  /**
   * Refuses to replace generated data by those of a job with other settings, which may be a mistake.
   *
   * @param others description of the existing data; null: none
   * @param keys of the job that determine the amount of generated data
   * @param test name of the test file; a job that names it trains on the existing data; null if these cannot be trained
   *     on
   */
  static void refuseOthers(JobConfig job, String others, String keys, String test) {
    if (others != null) {
      throw new InvalidInput("job " + job.job() + ": " + others + ". The existing data are not replaced: to train on them, "
          + (test == null ? "" : "name their test file (data.test_files: [" + test + "]), or ") + "set seed and " + keys
          + " to theirs; otherwise give another directory with --data (data.dir), or delete this one");
    }
  }

  /** Checks that all files can be read; see {@link Loading#present}. */
  void present(JobConfig job, String names, String source) {
    Stream.of(train, test).flatMap(List::stream).forEach(file -> Loading.present(job, names, source, file));
  }
}
