package io.regatta.snapshot;

import io.regatta.core.exchange.TrainerProgress;
import io.vertx.core.json.JsonObject;

/**
 * Counts of the examples that all trainers of a run have trained by the moment of a snapshot, over all lives of the
 * run. Immutable.
 *
 * @param trained up to the places where its trainers resume, each example once for each pass;
 *     {@link TrainerProgress#UNKNOWN} if some trainer does not report it
 * @param repeated that had been trained more than once by then
 * @param ahead trained after those places, and contained in some shards only: a run that resumes trains them again
 */
public record ExampleCounts(long trained, long repeated, long ahead) {

  /** Counts of a run that begins. */
  public static final ExampleCounts NONE = new ExampleCounts(0, 0, 0);

  /** Counts in a snapshot that does not have them. */
  public static final ExampleCounts UNKNOWN = new ExampleCounts(TrainerProgress.UNKNOWN, 0, 0);

  /** Returns true if the number of examples is known. */
  public boolean isKnown() {
    return trained >= 0;
  }

  JsonObject toJson() {
    return new JsonObject().put("trained", isKnown() ? trained : null).put("repeated", repeated).put("ahead", ahead);
  }

  static ExampleCounts of(JsonObject json) {
    Long trained = json.getLong("trained");
    return new ExampleCounts(trained == null ? TrainerProgress.UNKNOWN : trained, json.getLong("repeated"),
        json.getLong("ahead"));
  }
}
