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

/** Training and test files of a program that generates them where there are none. Immutable; model thread. */
record Inputs(List<Path> train, List<Path> test) {

  /**
   * Files that are the user's own: those that the job names, and for what it does not name the program's own in the
   * data directory.
   *
   * @param train finds the training files in the data directory
   * @param test name of the test file
   * @param generated whether what is in the directory was generated
   * @param begun whether it was, and may not be complete
   * @return null if data are to be generated: the job names none, and the directory is not there, or empty, or the
   *     generator's
   * @throws InvalidInput if the training files would be those of data that are only begun: some may be missing
   */
  static Inputs given(JobConfig job, Function<Path, List<Path>> train, String test, Predicate<Path> generated,
      Predicate<Path> begun) {
    Path directory = Loading.directory(job);
    List<String> files = job.data().files();
    boolean named = !files.isEmpty() || !job.data().testFiles().isEmpty();
    // Asked twice: another trainer may begin to generate between the two questions.
    if (!named && (generated.test(directory) || DataFiles.isEmpty(directory) || generated.test(directory))) {
      return null;
    }
    if (files.isEmpty() && begun.test(directory)) {
      throw new InvalidInput("job " + job.job() + ": " + directory.toAbsolutePath() + " holds generated data that are not complete: "
          + "start again what was making them (without data.test_files, if that was a job), name training files in data.files, or give "
          + "another directory with --data (data.dir)");
    }
    return new Inputs(files.isEmpty() ? train.apply(directory) : Loading.files(directory, files, ""),
        Loading.files(directory, job.data().testFiles(), test));
  }

  /**
   * Has data made, unless they are there. The first worker makes them; the others wait for it, and what its machine does not
   * share with theirs they make again.
   *
   * @param ensure makes the data unless they are there
   * @param tell hears of them on the first worker
   */
  static <G> G generated(Worker worker, Supplier<G> ensure, Consumer<G> tell) {
    if (!worker.isFirstWorker()) {
      worker.barrier();
      return ensure.get();
    }
    G made = ensure.get();
    tell.accept(made);
    worker.barrier();
    return made;
  }

  /**
   * The files of a program whose public data are imitated where they are absent: the user's own, or generated ones. The
   * first worker says so in one line, and reports the best possible result.
   *
   * @param given as of {@link #table}
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
   * Files that are the user's own, of a program whose public data are imitated where they are absent; null: they are to be
   * generated.
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
   * Data that a user has had made are not replaced by a job that wants others, which may be a slip.
   *
   * @param others what is there instead, in words; null: nothing
   * @param keys of the job that say how much is generated
   * @param test name of the test file, which, named, stands for all that is there; null: what is there is not to be trained on
   */
  static void refuseOthers(JobConfig job, String others, String keys, String test) {
    if (others != null) {
      throw new InvalidInput("job " + job.job() + ": " + others + ". What is there is not replaced: to train on it, "
          + (test == null ? "" : "name its test file (data.test_files: [" + test + "]), or ") + "set seed and " + keys
          + " to what is there; else give another directory with --data (data.dir), or delete it");
    }
  }

  /** Sees that all files can be read; see {@link Loading#present}. */
  void present(JobConfig job, String names, String source) {
    Stream.of(train, test).flatMap(List::stream).forEach(file -> Loading.present(job, names, source, file));
  }
}
