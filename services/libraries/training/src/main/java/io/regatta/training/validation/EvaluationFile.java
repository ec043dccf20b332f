package io.regatta.training.validation;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import io.regatta.training.result.EvaluationRecord;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/**
 * The file {@value #NAME} beside a job's snapshots: the evaluations of a run, from which a resumed run decides as an
 * unbroken one. Stateless; blocks.
 */
final class EvaluationFile {

  static final String NAME = "evaluations.json";

  private EvaluationFile() {}

  /**
   * Returns the evaluations of a run up to a step; none if there is no file, or it is that of another run.
   *
   * @throws InvalidInput if the file cannot be read
   */
  static List<EvaluationRecord> read(Path dir, String run, long step) {
    Path file = dir.resolve(NAME);
    try {
      JsonObject root = new JsonObject(Files.readString(file));
      return !run.equals(root.getString("run")) ? List.of()
          : root.getJsonArray("evaluations").stream().map(each -> EvaluationRecord.of((JsonObject) each))
              .filter(each -> each.step() <= step).toList();
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException | DecodeException | ClassCastException | NullPointerException e) {
      throw new InvalidInput(file + " cannot be read as the evaluations of a run: " + e + "; remove it, and early stopping begins anew",
          e);
    }
  }

  static void write(Path dir, String run, List<EvaluationRecord> evaluations) {
    String text = new JsonObject().put("run", run)
        .put("evaluations", new JsonArray(evaluations.stream().map(EvaluationRecord::toJson).toList())).encodePrettily();
    try {
      Files.createDirectories(dir);
      WholeFile.write(dir.resolve(NAME), part -> Files.writeString(part, text));
    } catch (IOException e) {
      throw new InvalidInput("cannot write " + dir.resolve(NAME) + ": " + e.getMessage() + "; without it a resumed run would not know "
          + "its evaluations", e);
    }
  }
}
