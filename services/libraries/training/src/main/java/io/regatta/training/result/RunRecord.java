package io.regatta.training.result;

import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.core.file.WholeFile;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file {@value #NAME} of an output directory: which run has written the model there, ended with success. It
 * outlives the rendezvous, so that a trainer of that run that starts late learns that nothing is left to do. Immutable;
 * reading and writing block, so they must not run on an event loop.
 *
 * @param job its name
 * @param runId names the start of the job; empty: none was named
 * @param ended when it ended
 */
public record RunRecord(String job, String runId, Instant ended) {
  private static final Logger LOG = LoggerFactory.getLogger(RunRecord.class);
  static final String NAME = "run.json";

  /** Returns the record in an output directory; empty if there is no readable one. */
  public static Optional<RunRecord> in(String output) {
    if (output.isBlank()) {
      return Optional.empty();
    }
    Path file = Path.of(output).resolve(NAME);
    try {
      JsonObject json = new JsonObject(Files.readString(file));
      return Optional.of(new RunRecord(json.getString("job", ""), json.getString("run_id", ""), Instant.parse(json.getString("ended", ""))));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException | DecodeException | ClassCastException | java.time.DateTimeException e) {
      LOG.debug("{} cannot be read as the record of a run: {}", file, e.toString());
      return Optional.empty();
    }
  }

  /**
   * Refuses a run that has already ended with success.
   *
   * @throws RunEnded if the model in this directory is that of the same run
   */
  public static void refuseEnded(String job, String runId, String output) {
    if (runId.isEmpty()) {
      return;
    }
    in(output).filter(run -> run.runId.equals(runId) && run.job.equals(job)).ifPresent(run -> {
      throw new RunEnded("run " + runId + " of job " + job + " ended with success at " + run.ended + ", and its model is in " + output
          + ": nothing is left to do. To train again, start the job with another run id");
    });
  }

  /** Returns the message of a new run before it replaces this one's model. */
  public String replacedBy(String output) {
    return "the model in " + output + ", of the run" + (runId.isEmpty() ? "" : " " + runId) + (job.isEmpty() ? "" : " of job " + job)
        + " that ended at " + ended + ", will be replaced by this run's";
  }

  /** Writes the record beside the model. A failure is logged: the model is complete without it. */
  public void write(String output) {
    Path file = Path.of(output).resolve(NAME);
    try {
      String text = new JsonObject().put("job", job).put("run_id", runId).put("ended", ended.toString()).encodePrettily() + "\n";
      WholeFile.write(file, part -> Files.writeString(part, text));
    } catch (IOException e) {
      LOG.warn("job {}: {} cannot be written, so that a trainer of this run that starts late may train again: {}", job, file,
          e.toString());
    }
  }
}
