package io.regatta.training.result;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * A trainer that did not reach the end of a run, and the data of its partition that were not trained. Immutable.
 *
 * @param left true: it failed or was stopped; false: it was lost
 * @param step of its last heartbeat, -1 if it had made none
 * @param examples that it had trained by its last heartbeat, -1 if unknown
 * @param untrained examples of its partition that were not trained, -1 if unknown
 * @param files that it alone read; empty: a share of all data
 * @param part its partition of the data, in words
 */
public record LostTrainer(int rank, boolean left, long step, long examples, long untrained, List<String> files, String part) {

  public LostTrainer {
    files = List.copyOf(files);
  }

  /** Returns true unless it is known that all of its data were trained. */
  public boolean hasUntrained() {
    return untrained != 0;
  }

  JsonObject toJson() {
    return new JsonObject().put("rank", rank).put("how", left ? "left" : "lost").put("step", step < 0 ? null : step)
        .put("examples", examples < 0 ? null : examples).put("untrained_examples", untrained < 0 ? null : untrained)
        .put("untrained_files", hasUntrained() ? new JsonArray(files) : new JsonArray()).put("untrained_part", hasUntrained() ? part : "");
  }

  /**
   * Returns it in words, for example
   * {@code trainer 1 (was lost after step 204, 6528 examples trained): 9472 examples not trained, of ...}.
   */
  @Override
  public String toString() {
    return "trainer " + rank + " (" + (left ? "left" : "was lost") + (step < 0 ? " before its first step" : " after step " + step)
        + (examples < 0 ? "" : ", " + count(examples) + " trained") + "): "
        + (!hasUntrained() ? "all of its data were trained"
            : (untrained < 0 ? "an unknown number of examples" : count(untrained)) + " not trained" + (part.isEmpty() ? "" : ", of " + part));
  }

  private static String count(long examples) {
    return examples + (examples == 1 ? " example" : " examples");
  }
}
