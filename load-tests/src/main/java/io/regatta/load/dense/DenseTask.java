package io.regatta.load.dense;

import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.protocol.stream.StreamOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The task common to all kinds: a shard's vector of floats, from which SGD takes the same gradient repeatedly. All
 * values are small multiples of 2^-10, so that the weights after n pushes are exact in any order of computation:
 * {@code initial - n * RATE * gradient}.
 *
 * @param elements of the vector
 * @param options of Regatta's streams; all kinds take the size of a chunk from them, in both directions
 */
public record DenseTask(int elements, StreamOptions options) {

  /** Learning rate. */
  public static final float RATE = 0x1p-10f;

  /** Creates a task with this chunk size, everything else by default. */
  DenseTask(int elements, int chunkBytes) {
    this(elements, StreamOptions.defaults().withChunkBytes(chunkBytes));
  }

  /** Returns the description of the task for a worker of the dense driver. */
  JsonObject json() {
    return new JsonObject().put("elements", elements).put("chunk", chunkBytes())
        .put("window", options.initialWindowBytes()).put("connection_window", options.connectionWindowBytes())
        .put("frame", options.maxFrameBytes());
  }

  /** Returns all {@code tasks} of a worker's setup. */
  static List<DenseTask> all(JsonObject setup) {
    List<DenseTask> tasks = new ArrayList<>();
    JsonArray told = setup.getJsonArray("tasks");
    for (int i = 0; i < told.size(); i++) {
      JsonObject one = told.getJsonObject(i);
      tasks.add(new DenseTask(one.getInteger("elements"), StreamOptions.defaults().withChunkBytes(one.getInteger("chunk"))
          .with(s -> s.initialWindowBytes(one.getInteger("window")).connectionWindowBytes(one.getInteger("connection_window")))
          .withMaxFrameBytes(one.getInteger("frame"))));
    }
    return tasks;
  }

  int chunkBytes() {
    return options.chunkBytes();
  }

  int chunkElements() {
    return chunkBytes() / Float.BYTES;
  }

  /** Returns the model for Regatta. */
  public ModelSpec model() {
    return new ModelSpec(1, List.of(new DenseVariable("w", List.of(elements))), OptimizerSpec.sgd(RATE), List.of());
  }

  /** Returns the weights at the beginning. */
  public float[] initial() {
    float[] w = new float[elements];
    for (int i = 0; i < elements; i++) {
      w[i] = i % 13;
    }
    return w;
  }

  /** Returns the gradient of each push. */
  public float[] gradient() {
    float[] g = new float[elements];
    for (int i = 0; i < elements; i++) {
      g[i] = i % 7 - 3;
    }
    return g;
  }

  /** Throws if these are not the weights after this number of pushes. */
  public void check(float[] weights, long pushes) {
    float[] expected = initial();
    float[] g = gradient();
    for (int i = 0; i < elements; i++) {
      expected[i] -= pushes * RATE * g[i];
    }
    int wrong = Arrays.mismatch(expected, weights);
    if (wrong >= 0) {
      throw new IllegalStateException("after " + pushes + " pushes weight " + wrong + " of " + elements + " is "
          + (wrong < weights.length ? weights[wrong] : "missing") + " but must be "
          + (wrong < elements ? expected[wrong] : "no more"));
    }
  }
}
