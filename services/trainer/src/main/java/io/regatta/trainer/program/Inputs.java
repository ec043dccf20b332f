package io.regatta.trainer.program;

import io.regatta.trainer.Worker;
import io.regatta.trainer.config.JobConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Training and test files of a program that generates them where there are none. Immutable; model thread. */
record Inputs(List<Path> train, List<Path> test) {

  /**
   * Files that are the user's own.
   *
   * @param test name of the test file, where the job names training files only
   * @param there finds files in the data directory where the job names none; null: what is there was generated, or nothing is
   * @return null if data are to be generated
   */
  static Inputs given(JobConfig job, String test, Function<Path, Inputs> there) {
    Path directory = Loading.directory(job);
    return job.data().files().isEmpty() ? there.apply(directory)
        : new Inputs(Loading.files(directory, job.data().files(), ""), Loading.files(directory, job.data().testFiles(), test));
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

  /** Sees that all files can be read; see {@link Loading#present}. */
  void present(JobConfig job, String names, String source) {
    Stream.of(train, test).flatMap(List::stream).forEach(file -> Loading.present(job, names, source, file));
  }
}
