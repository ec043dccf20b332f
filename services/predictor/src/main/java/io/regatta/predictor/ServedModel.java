package io.regatta.predictor;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.feature.RequestRows;
import io.regatta.data.feature.StatisticsFile;
import io.regatta.data.image.ImageInput;
import io.regatta.snapshot.LostShard;
import io.regatta.snapshot.ManifestFile;
import io.regatta.snapshot.ModelFiles;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.TableLayout;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.regatta.training.Servable;
import io.regatta.training.config.DataConfig;
import io.regatta.training.config.JobConfig;
import io.regatta.training.dataset.SlotArrays;
import io.regatta.training.evaluation.Evaluation;
import io.regatta.training.feature.DeclaredFeatures;
import io.regatta.training.feature.LoadedFeatures;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.model.PredictingForward;
import io.regatta.training.save.SavedModel;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A saved model in memory: network, dense parameters and tables. Owned by the predictor's thread. */
final class ServedModel implements AutoCloseable {

  private static final int SLICE_FLOATS = 1 << 16;
  /** End of the name of the parameter with the weights of dense features, and the table with those of ids. */
  private static final String DENSE_WEIGHTS = "dense_weights";
  private static final String ID_WEIGHTS = "weights";

  private final Servable program;
  private final JobConfig job;
  private final LoadedFeatures features;
  private final LineFormat input;
  private final Optional<RequestRows> rows;
  private final Model model;
  private final Block block;
  private final Map<String, Parameter> parameters = new LinkedHashMap<>();
  private final Map<String, ServedTable> tables = new HashMap<>();
  private final SlotArrays arrays = new SlotArrays();
  /** Set once the model is read. */
  private PredictingForward forward;
  private final String run;
  private final long step;

  private ServedModel(JobConfig job, LoadedFeatures features, Servable program, Map<String, List<Long>> saved, String run, long step) {
    this.features = features;
    this.run = run;
    this.step = step;
    this.program = program;
    this.job = job;
    input = program.input(job);
    rows = program.rows(job);
    block = program.network(job, saved);
    model = Model.newInstance(job.job());
    model.setBlock(block);
  }

  /**
   * Reads a model that a trainer has saved.
   *
   * @param given the program; null: the class that the model names
   * @param format of examples; null: the one on which it was trained
   * @throws InvalidInput if the directory holds no model, or it is damaged, or another program's, or the program has no
   *     such format
   */
  static ServedModel load(Path dir, Servable given, DataConfig.Format format) throws IOException {
    JsonObject manifest = manifest(dir);
    SnapshotDirectory.verify(dir);
    JsonObject declared = new JsonObject().put("job", manifest.getString("job"))
        .put("program", manifest.getString("program", "")).put("settings", manifest.getJsonObject("settings", new JsonObject()))
        .put("data", data(manifest.getJsonObject("data", new JsonObject()), format)).put("tables", dimensions(manifest));
    Stream.of("features", "labels", "metrics", "model").filter(manifest::containsKey)
        .forEach(section -> declared.put(section, manifest.getJsonObject(section)));
    if (hasStatistics(manifest)) {
      declared.getJsonObject("data").put("statistics", dir.toAbsolutePath().toString());
    }
    JobConfig job = JobConfig.of(declared);
    LoadedFeatures features = new LoadedFeatures(job);
    checkFeatures(dir, features, manifest.getString(SavedModel.FEATURES_DIGEST, ""));
    ServedModel served = new ServedModel(job, features, given != null ? given : program(job, dir), shapes(dir), manifest.getString("run", ""),
        manifest.getLong("step", -1L));
    try {
      served.read(dir, manifest);
      return served;
    } catch (IOException | RuntimeException e) {
      served.close();
      throw e;
    }
  }

  /**
   * Returns the manifest of the model in a directory.
   *
   * @throws InvalidInput if it holds none that a run has saved
   */
  static JsonObject manifest(Path dir) {
    JsonObject manifest = ManifestFile.read(dir);
    if (!"model".equals(manifest.getString("kind"))) {
      throw new InvalidInput(dir + " is a snapshot, which does not name its program; give the model's directory that the run "
          + "saved (output)");
    }
    if (!manifest.containsKey("program")) {
      throw new InvalidInput("model " + dir + " was exported from a snapshot, which does not name the program, its settings, or "
          + "the values of an id without a row: load the model that the run saved (output), and take over the snapshot, or follow "
          + "its directory");
    }
    String missing = LostShard.missingRows(LostShard.in(manifest));
    if (!missing.isEmpty()) {
      throw new InvalidInput("model " + dir + " lacks " + missing + ": predictions would treat their ids as untrained "
          + "ones. Resume the job from its last snapshot (resume: auto), and give the model that it saves then");
    }
    return manifest;
  }

  /** Checks that this release computes the features with which the model was trained. */
  private static void checkFeatures(Path dir, LoadedFeatures features, String trained) {
    String here = trained.isEmpty() ? "" : features.digest();
    if (!here.equals(trained)) {
      throw new InvalidInput("model " + dir + " was trained with other features (digest " + trained + ") than this release computes ("
          + here + "): serve it with the release that trained it, or train it again");
    }
  }

  /** Returns the shapes of the dense parameters, by name. */
  private static Map<String, List<Long>> shapes(Path dir) throws IOException {
    try (SafetensorsFile dense = SafetensorsFile.open(ConfinedDirectory.of(dir), ModelFiles.DENSE)) {
      return dense.tensors().stream().collect(Collectors.toMap(TensorInfo::name, TensorInfo::shape));
    }
  }

  private static boolean hasStatistics(JsonObject manifest) {
    return manifest.getJsonArray("files").stream()
        .anyMatch(file -> file instanceof JsonObject entry && StatisticsFile.NAME.equals(entry.getString("file")));
  }

  /** Returns the job's section of data: the one on which it was trained, or that of another format. */
  private static JsonObject data(JsonObject trained, DataConfig.Format format) {
    if (format == null) {
      return trained;
    }
    JsonObject data = new JsonObject().put("format", format.label());
    boolean nameless = format == DataConfig.Format.CSV || format == DataConfig.Format.TSV;
    return nameless && trained.containsKey("columns") ? data.put("columns", trained.getJsonArray("columns")) : data;
  }

  /** Returns the job's section of tables, as far as the network depends on it. */
  private static JsonObject dimensions(JsonObject manifest) {
    JsonObject tables = new JsonObject();
    for (Object entry : manifest.getJsonArray("tables")) {
      JsonObject table = (JsonObject) entry;
      tables.put(table.getString("table"), new JsonObject().put("dim", table.getInteger("dim")));
    }
    return tables;
  }

  private static Servable program(JobConfig job, Path dir) {
    try {
      ClassLoader context = Thread.currentThread().getContextClassLoader();
      Class<?> type = Class.forName(job.program(), false,
          context == null ? ServedModel.class.getClassLoader() : context);
      if (!Servable.class.isAssignableFrom(type)) { // before any of its code runs
        throw new InvalidInput("model " + dir + ": program " + job.program()
            + " cannot be served: it does not implement " + Servable.class.getName());
      }
      return (Servable) type.getConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new InvalidInput("model " + dir + ": program '" + job.program() + "' is not on the class path, or has no public "
          + "constructor without arguments: " + e, e);
    }
  }

  private void read(Path dir, JsonObject manifest) throws IOException {
    block.initialize(model.getNDManager(), DataType.FLOAT32, SlotArrays.shapes(input.layout(), 1));
    for (Pair<String, Parameter> p : block.getParameters()) {
      parameters.put(p.getKey(), p.getValue());
    }
    try (SafetensorsFile dense = SafetensorsFile.open(ConfinedDirectory.of(dir), ModelFiles.DENSE)) {
      Map<String, float[]> values = new LinkedHashMap<>();
      for (String name : parameters.keySet()) {
        if (!dense.has(name)) {
          throw new InvalidInput("model " + dir + " has no parameter " + name + ", which the program's network has: it was "
              + "trained by another version of it, or with other settings");
        }
        values.put(name, dense.floats(name));
      }
      set(values);
    }
    for (Object entry : manifest.getJsonArray("tables")) {
      JsonObject table = (JsonObject) entry;
      String name = table.getString("table");
      ServedTable served = new ServedTable(name, table.getInteger("dim"), initializer(table), manifest.getLong("seed"));
      tables.put(name, served);
      try (SafetensorsFile file = SafetensorsFile.open(ConfinedDirectory.of(dir), ModelFiles.table(name))) {
        fill(served, file);
      }
    }
    attach(block);
    forward = new PredictingForward(block);
  }

  private static InitializerSpec initializer(JsonObject table) {
    JsonObject spec = table.getJsonObject("initializer");
    if (spec == null) {
      throw new InvalidInput("the model does not say which values table " + table.getString("table") + " has for ids without a row: it "
          + "was exported or saved by an older release; have it saved by a run");
    }
    return new InitializerSpec(InitializerSpec.Kind.valueOf(spec.getString("kind").toUpperCase(Locale.ROOT)),
        spec.getFloat("a"), spec.getFloat("b"));
  }

  private static void fill(ServedTable table, SafetensorsFile file) throws IOException {
    long rows = file.tensor("ids", TensorInfo.I64).elements();
    int most = Math.max(1, SLICE_FLOATS / table.dim());
    long[] ids = new long[most];
    float[] values = new float[most * table.dim()];
    SafetensorsFile.Cursor idsFrom = file.read("ids", TensorInfo.I64);
    SafetensorsFile.Cursor valuesFrom = file.read("values", TensorInfo.F32);
    for (long left = rows; left > 0; ) {
      int n = (int) Math.min(left, most);
      idsFrom.longs(ids, 0, n);
      valuesFrom.floats(values, 0, n * table.dim());
      table.put(ids, values, table.dim(), n);
      left -= n;
    }
  }

  private void attach(Block within) {
    if (within instanceof DistributedEmbedding embedding) {
      embedding.attach((table, dim, ids, training) -> table(table).rows(ids));
    }
    within.getChildren().forEach(child -> attach(child.getValue()));
  }

  /** Returns the run that trained it; empty if the model does not name it. */
  String run() {
    return run;
  }

  /** Returns the steps of training; -1 if the model does not name them. */
  long step() {
    return step;
  }

  LineFormat input() {
    return input;
  }

  /** Returns the ways in which requests give rows of named columns; empty if the program has none. */
  Optional<RequestRows> rows() {
    return rows;
  }

  /** Returns the way of images to examples; empty if the examples are no images. */
  Optional<ImageInput> images() {
    return program.images(job);
  }

  /** Returns the name of the job that trained it. */
  String name() {
    return job.job();
  }

  /** Returns a source of examples in the format given to {@link #load}. */
  FileSource<?> examples(List<Path> files, BadLines badLines) {
    return program.examples(job, files, badLines);
  }

  /** Returns the features that the job declared; empty if it declared none. */
  Optional<DeclaredFeatures> features() {
    return features.get();
  }

  /** Returns, for each id, whether one of the tables has a row of it. */
  boolean[] trained(long[] ids) {
    boolean[] trained = new boolean[ids.length];
    for (int i = 0; i < ids.length; i++) {
      long id = ids[i];
      trained[i] = tables.values().stream().anyMatch(table -> table.has(id));
    }
    return trained;
  }

  /** Returns the weights of these ids, and those of the dense features, in the network's linear part; empty if it has none. */
  Optional<Predictor.LinearWeights> linear(long[] ids) {
    Optional<float[]> dense = parameters.entrySet().stream().filter(each -> each.getKey().endsWith(DENSE_WEIGHTS))
        .map(each -> each.getValue().getArray().toFloatArray()).findFirst();
    ServedTable table = tables.get(ID_WEIGHTS);
    boolean weighs = table != null && table.dim() == 1;
    return dense.isEmpty() && !weighs ? Optional.empty()
        : Optional.of(new Predictor.LinearWeights(dense.orElse(new float[0]), weighs ? table.rows(ids) : new float[0]));
  }

  /** Returns new metrics of predictions, as the job that trained configures them; empty if the program has none. */
  Optional<Evaluation> evaluation() {
    return program.evaluation(job);
  }

  private ServedTable table(String name) {
    ServedTable table = tables.get(name);
    if (table == null) {
      throw new InvalidInput("the model has no table " + name + ", only " + tables.keySet());
    }
    return table;
  }

  /** Returns the table of this name, after checking its width. */
  ServedTable table(TableLayout layout) {
    ServedTable table = table(layout.name());
    if (table.dim() != layout.dim()) {
      throw new InvalidInput("table " + layout.name() + " has rows of " + layout.dim() + " values in the file, and of "
          + table.dim() + " in the model: the file belongs to another model");
    }
    return table;
  }

  /** Replaces the table of the same name. */
  void set(ServedTable table) {
    tables.put(table.name(), table);
  }

  /** Sets dense parameters: all, or none if one does not match. */
  void set(Map<String, float[]> values) {
    values.forEach((name, of) -> {
      Parameter parameter = parameters.get(name);
      if (parameter == null || parameter.getArray().size() != of.length) {
        throw new InvalidInput("parameter " + name + " has " + of.length + " elements in the file, and "
            + (parameter == null ? "none" : parameter.getArray().size()) + " in the program's network: it was trained with other "
            + "settings, or by another version");
      }
    });
    values.forEach((name, of) -> set(parameters.get(name).getArray(), of));
  }

  /** Returns the names of the scores of an example; an empty list if they have none. */
  List<String> outputNames() {
    return program.outputs(job);
  }

  /** Replaces values. The engine may keep the weights of convolutions in an order of its own, in which none can be set. */
  private static void set(NDArray array, float[] values) {
    try (NDArray newer = array.getManager().create(values, array.getShape())) {
      newer.copyTo(array);
    }
  }

  /** Returns the scores of an example; it is an empty one. */
  int outputs() {
    SlotBatch empty = SlotBatch.allocate(input.layout(), 1);
    Arrays.fill(empty.ids(), DistinctIds.PADDING);
    return predict(empty).length;
  }

  /** Returns the scores of the batch, with the present rows: as many of each example as of others. */
  float[] predict(SlotBatch batch) {
    SlotBatch padded = PaddedBatch.of(batch);
    try (NDManager scope = model.getNDManager().newSubManager()) {
      float[] scores = program.scores(job, forward.forward(scope, arrays.data(scope, padded)).singletonOrThrow());
      return padded == batch ? scores : Arrays.copyOf(scores, scores.length / padded.rows() * batch.rows());
    }
  }

  @Override
  public void close() {
    if (forward != null) {
      forward.close();
    }
    model.close();
  }
}
