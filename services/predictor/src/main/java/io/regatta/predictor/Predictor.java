package io.regatta.predictor;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.DenseVariable;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.Layout;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.feature.RequestRows;
import io.regatta.data.image.ImageInput;
import io.regatta.predictor.request.InferenceModel;
import io.regatta.predictor.request.RequestExamples;
import io.regatta.predictor.request.RequestFormats;
import io.regatta.predictor.request.RequestLines;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.SnapshotReader;
import io.regatta.snapshot.Snapshots;
import io.regatta.snapshot.TableLayout;
import io.regatta.training.Servable;
import io.regatta.training.config.DataConfig;
import io.regatta.training.evaluation.Evaluation;
import io.regatta.training.feature.DeclaredFeatures;
import io.regatta.training.model.Engines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * A model in memory that predicts, and takes over newer values meanwhile. It owns one thread, named
 * {@code regatta-predict-JOB}, on which the network computes one batch after the other; its methods may be called from
 * any thread. Requests that wait together are computed as one batch. Those beyond {@link BatchingLimits} fail with
 * {@code Overloaded}. If a future of a request is cancelled while it waits, the request is not computed.
 */
public final class Predictor implements AutoCloseable {

  /** Most bytes of the examples of one request. */
  private static final long BATCH_BYTES_MAX = 512L << 20;

  private final ModelLoop loop;
  private final ServedModel model;
  private final LineFormat input;
  private final RequestFormats formats;
  private final InferenceModel inference;
  private final int outputs;
  private final BatchingLimits limits;
  private final RequestQueue queue;
  /** Source of the snapshot that has been taken over, or of the model; read by any thread. */
  private volatile Source source;
  /**
   * The snapshot whose rows the tables have; null: those of the model. Used by the thread that takes snapshots over.
   */
  private volatile Snapshots.Found taken;

  /**
   * The source of the present values.
   *
   * @param dir of the model or the snapshot
   * @param run that trained them, see {@link io.regatta.snapshot.Manifest#run}; empty if the model does not name it
   * @param step of training; -1 if the model does not name it
   * @param pass after which the snapshot was taken; -1 for others
   */
  public record Source(Path dir, String run, long step, int pass) {

    /**
     * Returns true if a snapshot is newer. A snapshot is newer if its run began later (such as the next day's),
     * whatever its steps. In the same run, or if the model names none, it is newer if its step is later. A snapshot of
     * the same step is newer if it was taken after the end of its pass, when rows have aged and been removed.
     */
    boolean isBefore(Manifest snapshot) {
      int later = run.isEmpty() ? 0 : snapshot.run().compareTo(run);
      return later > 0 || later == 0 && (snapshot.step() > step || snapshot.step() == step && snapshot.pass() > pass);
    }
  }

  /**
   * The result of a prediction.
   *
   * @param scores of the examples in their order, {@code outputs} of each
   * @param outputs scores of an example, at least 1
   * @param step of the values with which it was predicted, see {@link Source}
   */
  public record Prediction(float[] scores, int outputs, long step) {}

  private Predictor(ModelLoop loop, ServedModel model, Path dir, BatchingLimits limits, int outputs) {
    this.loop = loop;
    this.model = model;
    this.outputs = outputs;
    this.limits = limits;
    input = model.input();
    formats = new RequestFormats(input, model.rows());
    inference = new InferenceModel(model.rows(), model.images(), input);
    source = new Source(dir, model.run(), model.step(), -1);
    queue = new RequestQueue(loop, limits, input.layout(), this::predicted, () -> "the predictor of " + source.dir());
  }

  /**
   * Checks, without reading it, that there is a model to load.
   *
   * @throws InvalidInput if the directory does not exist, or holds no model that names its program
   */
  public static void check(Path dir) {
    ServedModel.manifest(dir);
  }

  /** Loads a model of a program on the class path. Blocks until it is in memory. */
  public static Predictor load(Path dir) {
    return load(dir, null);
  }

  /**
   * Loads a model from the directory in which a run saved it. Blocks until it is in memory.
   *
   * @param program that trained it; null: the class that the model names
   * @throws InvalidInput if there is none, or it is damaged, or does not match the program
   */
  public static Predictor load(Path dir, Servable program) {
    return load(dir, program, null);
  }

  /**
   * Loads a model, with another format of examples.
   *
   * @param format of examples; null: the one on which it was trained
   */
  public static Predictor load(Path dir, Servable program, DataConfig.Format format) {
    return load(dir, program, format, BatchingLimits.DEFAULTS);
  }

  /** Loads a model whose requests wait within other limits. */
  public static Predictor load(Path dir, Servable program, DataConfig.Format format, BatchingLimits limits) {
    Engines.current();
    ModelLoop loop = new ModelLoop("regatta-predict-" + dir.getFileName());
    try {
      ServedModel model = on(loop, () -> ServedModel.load(dir, program, format), dir::toString).join();
      return new Predictor(loop, model, dir, limits, on(loop, model::outputs, dir::toString).join());
    } catch (CompletionException e) {
      loop.end();
      throw failed("model " + dir.toAbsolutePath() + " cannot be read", e.getCause());
    }
  }

  /** Returns the format of an example as a line. */
  public LineFormat input() {
    return input;
  }

  /**
   * Returns a source of examples in the format of the model's training files, or the one given to {@link #load}; this
   * may be a format of named columns, without lines.
   */
  public FileSource<?> examples(List<Path> files) {
    return model.examples(files, BadLines.refused("--format"));
  }

  /**
   * Returns new metrics for predictions of examples with labels, as the job that trained configures them; empty if the
   * program has none.
   */
  public Optional<Evaluation> evaluation() {
    return model.evaluation();
  }

  /** Returns the features that the job of the model declared; empty if it declared none. */
  public Optional<DeclaredFeatures> features() {
    return model.features();
  }

  /**
   * Weights of the linear part of a network.
   *
   * @param dense of the dense features, in order
   * @param ids of the ids that were asked for, in order
   */
  public record LinearWeights(float[] dense, float[] ids) {}

  /** Returns the weights of the dense features and of these ids; empty if the network has no linear part. */
  public CompletableFuture<Optional<LinearWeights>> linear(long[] ids) {
    return call(() -> model.linear(ids));
  }

  /** Returns, for each id, whether the model has a row of it, so that training has seen it. */
  public CompletableFuture<boolean[]> trained(long[] ids) {
    return call(() -> model.trained(ids));
  }

  /** Returns the name of the job that trained the model. */
  public String name() {
    return model.name();
  }

  /** Returns the scores of an example. */
  public int outputs() {
    return outputs;
  }

  /** Returns the names of the scores of an example, in their order; an empty list if they have none. */
  public List<String> outputNames() {
    return model.outputNames();
  }

  /** Returns the ways of rows of named columns; empty if the model has none. */
  Optional<RequestRows> rows() {
    return model.rows();
  }

  /** Returns the way of images to examples; empty if the examples are no images. */
  Optional<ImageInput> images() {
    return model.images();
  }

  /** Returns the model as the Open Inference Protocol describes it. */
  InferenceModel inference() {
    return inference;
  }

  /** Returns the widths of an example. */
  public Layout layout() {
    return input.layout();
  }

  /** Returns the source of the present values. */
  public Source source() {
    return source;
  }

  /**
   * Predicts examples, one per line; empty lines are skipped, and so are comments if the format has them.
   *
   * @return failed with {@code InvalidInput} if a line is not in the program's format, with {@code Overloaded} if too
   *     many examples wait
   */
  public CompletableFuture<Prediction> predict(List<String> lines) {
    return predict(String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Predicts the examples of a text as {@link #predict(List)}. The text must not change until it is done; the
   * predictor's thread parses it.
   */
  public CompletableFuture<Prediction> predict(byte[] text) {
    return predict(new RequestLines(text, input));
  }

  /** Predicts examples in the program's layout as {@link #predict(List)}; they must not change until it is done. */
  public CompletableFuture<Prediction> predict(SlotBatch examples) {
    return queue.add(RequestExamples.of(examples));
  }

  /**
   * Predicts the examples of a text that is in one of the {@link RequestFormats}.
   *
   * @param contentType null if it is not known
   * @return failed as that of {@link #predict(List)}
   */
  CompletableFuture<Prediction> predict(String contentType, byte[] text) {
    try {
      return predict(formats.examples(contentType, text));
    } catch (InvalidInput e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Predicts the examples of a request as {@link #predict(List)}. */
  CompletableFuture<Prediction> predict(RequestExamples examples) {
    if (examples.rows() > limits.maxWaiting()) {
      return CompletableFuture.failedFuture(new InvalidInput("a request has " + examples.rows() + " examples; send at most "
          + limits.maxWaiting() + " at a time (predictor.max_waiting)"));
    }
    long bytes = examples.rows() * SlotBatch.bytes(layout());
    if (bytes > BATCH_BYTES_MAX) {
      return CompletableFuture.failedFuture(new InvalidInput("the " + examples.rows() + " examples of a request would take "
          + (bytes >> 20) + " MiB, at most " + (BATCH_BYTES_MAX >> 20) + " are allowed: send "
          + BATCH_BYTES_MAX / SlotBatch.bytes(layout()) + " at a time"));
    }
    return queue.add(examples);
  }

  /** Returns the examples that wait. */
  long waitingExamples() {
    return queue.waitingExamples();
  }

  private Prediction predicted(SlotBatch examples) {
    if (examples.rows() == 0) {
      return new Prediction(new float[0], outputs, source.step());
    }
    return new Prediction(model.predict(examples), outputs, source.step());
  }

  /**
   * Takes over a snapshot, if it is not damaged, while predictions continue. Blocks the caller, one at a time, until it
   * is done.
   *
   * <p>If it is a delta on top of what the predictor has, only the newer values are read: rows first, slice by slice
   * between predictions, then the dense parameters together. Any other snapshot is read separately, which takes memory
   * for both, and replaces all values at once. A delta that fails in the middle leaves rows of both; taking it over
   * again completes it.
   *
   * @throws InvalidInput if the snapshot cannot be read, is damaged (naming the file), or is of another model
   */
  public void take(Path snapshot) {
    try (SnapshotReader reader = SnapshotReader.open(snapshot)) {
      boolean follows = taken != null && reader.follows(taken);
      if (follows) {
        reader.verifySince(taken);
      } else {
        reader.verify();
      }
      Map<String, float[]> dense = new LinkedHashMap<>();
      for (DenseVariable variable : reader.manifest().model().dense()) {
        dense.put(variable.name(), reader.variable(variable, -1));
      }
      List<ServedTable> tables = new ArrayList<>();
      for (TableLayout table : reader.manifest().model().tables()) {
        ServedTable served = call(() -> model.table(table)).join();
        if (follows) {
          reader.rowsSince(taken, table, (ids, rows, n) -> call(() -> served.put(ids, rows, table.width(), n)).join(),
              (ids, rows, n) -> call(() -> served.remove(ids, n)).join());
        } else {
          ServedTable whole = served.empty(reader.manifest().model().seed());
          reader.rows(table, (ids, rows, n) -> whole.put(ids, rows, table.width(), n));
          tables.add(whole);
        }
      }
      Source newer = new Source(snapshot, reader.manifest().run(), reader.manifest().step(), reader.manifest().pass());
      call(() -> {
        model.set(dense);
        tables.forEach(model::set);
        source = newer;
        return null;
      }).join();
      taken = reader.newest();
    } catch (IOException e) {
      throw failed("snapshot " + snapshot.toAbsolutePath() + " cannot be read", e);
    } catch (CompletionException e) {
      throw failed("snapshot " + snapshot.toAbsolutePath() + " cannot be taken over", e.getCause());
    }
  }

  private <T> CompletableFuture<T> call(Callable<T> task) {
    return on(loop, task, () -> "the predictor of " + source.dir());
  }

  /** Runs a task on a thread; the future fails with the task's own exception. */
  private static <T> CompletableFuture<T> on(ModelLoop thread, Callable<T> task, Supplier<String> whose) {
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      thread.execute(() -> {
        try {
          result.complete(task.call());
        } catch (Throwable e) {
          result.completeExceptionally(e);
        }
      });
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(new Cancelled(whose.get() + " has been closed"));
    }
    return result;
  }

  private static RuntimeException failed(String what, Throwable cause) {
    return cause instanceof RuntimeException known ? known : new InvalidInput(what + ": " + cause, cause);
  }

  /** Releases the model after the waiting requests. */
  @Override
  public void close() {
    queue.close();
    call(() -> {
      queue.drain();
      model.close();
      return null;
    });
    loop.end();
  }
}
