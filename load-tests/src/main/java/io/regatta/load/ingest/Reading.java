package io.regatta.load.ingest;

import io.regatta.load.process.Task;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;

/**
 * The reading of Criteo files from beginning to end: dense features normalised, categorical ones hashed, all into
 * arrays. Each answer has {@code examples}, and {@code sum} of all ids, in which kinds must agree. Owned by the
 * worker's main thread.
 */
abstract class Reading implements Task {

  static final int BATCH = 1000;
  static final long DIMENSION = 1_000_001;

  final List<Path> files;
  long examples;
  long sum;

  Reading(JsonObject setup) {
    files = setup.getJsonArray("files").stream().map(file -> Path.of((String) file)).toList();
  }

  /** Reads everything once, adding to {@code examples} and {@code sum}. */
  abstract void read() throws Exception;

  @Override
  public JsonObject run(JsonObject command) throws Exception {
    examples = 0;
    sum = 0;
    for (int i = 0; i < command.getInteger("times", 1); i++) {
      read();
    }
    return new JsonObject().put("examples", examples).put("sum", sum);
  }

  @Override
  public void close() {}
}
