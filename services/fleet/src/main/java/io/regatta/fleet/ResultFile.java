package io.regatta.fleet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.RunResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The JSON that {@code --result FILE} writes: one line of truth per run. Figures that a program did not report are
 * null. Stateless, any thread; writing blocks.
 */
public final class ResultFile {

  private static final ObjectMapper JSON = new ObjectMapper();

  private ResultFile() {}

  /** The result as a JSON object, fields in the order of docs/configuration.md. */
  public static ObjectNode json(RunResult run) {
    ObjectNode json = JSON.createObjectNode();
    json.put("job", run.job());
    json.put("mode", run.mode());
    json.put("servers", run.servers());
    json.put("trainers", run.trainers());
    json.put("shards", run.shards());
    json.put("seed", run.seed());
    json.put("steps", run.steps());
    json.put("examples", run.examples());
    figure(json, "seconds", run.seconds());
    figure(json, "examples_per_second", run.examplesPerSecond());
    figure(json, "loss", run.loss());
    figure(json, "auc", run.auc());
    figure(json, "accuracy", run.accuracy());
    figure(json, "logloss", run.logloss());
    json.put("staleness_max", run.stalenessMax());
    ObjectNode pids = json.putObject("process_ids");
    run.pids().forEach(pids::put);
    json.put("model", run.model());
    json.put("parameters_hash", run.parameters());
    json.put("threads", run.threads());
    json.put("skipped_pushes", run.skipped());
    ArrayNode rates = json.putArray("examples_per_second_by_rank");
    run.examplesPerSecondByRank().forEach(rates::add);
    ObjectNode metrics = json.putObject("metrics");
    run.metrics().forEach((name, value) -> figure(metrics, name, value));
    return json;
  }

  /** Writes the result whole or not at all. */
  public static void write(RunResult run, Path file) {
    Path target = file.toAbsolutePath();
    Path part = target.resolveSibling(target.getFileName() + ".part");
    try {
      if (target.getParent() != null) {
        Files.createDirectories(target.getParent());
      }
      Files.writeString(part, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(json(run)) + "\n");
      Files.move(part, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new InvalidInput("the result cannot be written to " + file + ": " + e.getMessage() + "; choose another "
          + "place with --result", e);
    }
  }

  private static void figure(ObjectNode json, String name, double value) {
    if (Double.isFinite(value)) {
      json.put(name, value);
    } else {
      json.putNull(name);
    }
  }
}
