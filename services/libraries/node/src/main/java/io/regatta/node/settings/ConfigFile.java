package io.regatta.node.settings;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.config.spi.utils.Processors;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;

/** Reader of one configuration file, with Vert.x Config's parsers. Stateless; nothing blocks the caller. */
final class ConfigFile {

  /** Words after which the parsers repeat a part of the file, which may be a secret. */
  private static final String REPEATS = "(Unrecognized token|found undefined alias|could not determine a constructor for the tag) \\S+?"
      + "(:?)(?=\\s|$)";

  private ConfigFile() {}

  /** Returns the file's values, empty for null; {@link InvalidInput} names file, line and column. */
  static Future<JsonObject> read(Vertx vertx, Path file) {
    if (file == null) {
      return Future.succeededFuture(new JsonObject());
    }
    return vertx.fileSystem().props(file.toString())
        .recover(e -> Future.failedFuture(unreadable(file, e)))
        .compose(found -> found.isDirectory() ? Future.failedFuture(new InvalidInput("configuration file "
            + file.toAbsolutePath() + " is a directory: give the path of a file")) : read(vertx, file, format(file)));
  }

  private static Future<JsonObject> read(Vertx vertx, Path file, String format) {
    return vertx.fileSystem().readFile(file.toString())
        .recover(e -> Future.failedFuture(unreadable(file, e)))
        .compose(text -> distinctKeys(format, text)
            .compose(v -> Processors.get(format).process(vertx, new JsonObject(), text))
            .recover(e -> Future.failedFuture(broken(file, e))))
        .map(json -> json == null ? new JsonObject() : json);
  }

  private static String format(Path file) {
    return format(file.toString()).orElseThrow(() -> new InvalidInput("configuration file " + file
        + ": the name must end in .json, .yaml or .yml"));
  }

  /** Returns the format that a file's name shows; empty: it is no configuration. */
  static Optional<String> format(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.endsWith(".json") ? Optional.of("json")
        : lower.endsWith(".yaml") || lower.endsWith(".yml") ? Optional.of("yaml") : Optional.empty();
  }

  /** Refuses a key that is given twice; the readers would silently take the last one. */
  private static Future<Void> distinctKeys(String format, Buffer text) {
    try {
      if (format.equals("yaml")) {
        LoaderOptions strict = new LoaderOptions();
        strict.setAllowDuplicateKeys(false);
        new Yaml(new SafeConstructor(strict)).load(text.toString());
      } else {
        JsonFactory strict = JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
        try (JsonParser parser = strict.createParser(text.toString())) {
          while (parser.nextToken() != null) { }
        }
      }
      return Future.succeededFuture();
    } catch (IOException | YAMLException e) {
      return Future.failedFuture(e);
    }
  }

  private static InvalidInput unreadable(Path file, Throwable e) {
    Throwable cause = e.getCause() == null ? e : e.getCause();
    String why = cause instanceof NoSuchFileException ? "no such file"
        : cause instanceof AccessDeniedException ? "permission denied"
        : cause.getMessage();
    return new InvalidInput("cannot read configuration file " + file.toAbsolutePath() + ": " + why, e);
  }

  private static InvalidInput broken(Path file, Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof JsonProcessingException json && json.getLocation() != null) {
        JsonLocation at = json.getLocation();
        return at(file, at.getLineNr(), at.getColumnNr(), json.getOriginalMessage());
      }
      if (cause instanceof MarkedYAMLException yaml && yaml.getProblemMark() != null) {
        Mark mark = yaml.getProblemMark();
        return at(file, mark.getLine() + 1, mark.getColumn() + 1, yaml.getProblem());
      }
    }
    return new InvalidInput("configuration file " + file + " must hold a mapping of keys to values");
  }

  /** Returns an error without the parser's failure, which repeats the file's text. */
  private static InvalidInput at(Path file, int line, int column, String problem) {
    return new InvalidInput("configuration file " + file + ", line " + line + ", column " + column + ": "
        + problem.replaceAll("\\s+", " ").replaceAll(REPEATS, "$1$2"));
  }
}
