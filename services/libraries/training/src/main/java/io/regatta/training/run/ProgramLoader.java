package io.regatta.training.run;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The loader of the {@link TrainingProgram} that a job names. Stateless; any thread may use it. A program's jar has a
 * class loader of its own, which stays open as long as the program is reachable, because its classes may be loaded
 * late.
 */
public final class ProgramLoader {

  private ProgramLoader() {}

  /**
   * Lets a program check its settings and data before anything starts ({@link TrainingProgram#check}). May block.
   *
   * @param given null: the program that the job names
   */
  public static void check(JobConfig job, TrainingProgram given) {
    TrainingProgram program = given != null ? given : load(job);
    if (program.settings() != null) {
      job.settingsAs(program.settings());
    }
    program.check(job);
  }

  /**
   * Returns an instance of the program that the job names.
   *
   * @throws InvalidInput if there is none
   */
  public static TrainingProgram load(JobConfig job) {
    if (job.program().isBlank()) {
      throw new InvalidInput("job " + job.job() + ": program is missing; name a class that implements "
          + TrainingProgram.class.getName());
    }
    String where = job.programJar().isBlank() ? "on the class path" : "in " + job.programJar();
    try {
      Class<?> type = Class.forName(job.program(), false, loader(job));
      if (!TrainingProgram.class.isAssignableFrom(type)) {
        throw new InvalidInput("job " + job.job() + ": program " + job.program() + " " + where
            + " does not implement " + TrainingProgram.class.getName());
      }
      return (TrainingProgram) type.getConstructor().newInstance();
    } catch (ClassNotFoundException e) {
      throw new InvalidInput("job " + job.job() + ": program " + job.program() + " was not found " + where
          + "; check program and program_jar", e);
    } catch (NoSuchMethodException e) {
      throw new InvalidInput("job " + job.job() + ": program " + job.program()
          + " needs a public constructor without arguments", e);
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new InvalidInput("job " + job.job() + ": program " + job.program() + " could not be created: "
          + (e.getCause() == null ? e : e.getCause()), e);
    }
  }

  private static ClassLoader loader(JobConfig job) {
    ClassLoader own = ProgramLoader.class.getClassLoader();
    if (job.programJar().isBlank()) {
      ClassLoader context = Thread.currentThread().getContextClassLoader();
      return context == null ? own : context;
    }
    Path jar = Path.of(job.programJar());
    if (!Files.isRegularFile(jar) || !Files.isReadable(jar)) {
      throw new InvalidInput("job " + job.job() + ": program_jar " + jar.toAbsolutePath() + (!Files.exists(jar)
          ? " does not exist" : Files.isDirectory(jar) ? " is a directory; give the path of the jar in it"
          : " cannot be read; check its permissions"));
    }
    try {
      return new URLClassLoader(new URL[] {jar.toUri().toURL()}, own);
    } catch (MalformedURLException e) {
      throw new InvalidInput("job " + job.job() + ": program_jar " + jar + " is not a valid path", e);
    }
  }
}
