package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.snapshot.ExampleCounts;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.snapshot.SnapshotRewrite;
import io.regatta.snapshot.Snapshots;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Resume matrix: every mode, every way to take snapshots, every way to resume. In each cell a run is cut within a pass
 * and resumed. Steps after its last snapshot, if there are any, are lost. The examples in the snapshot and those
 * trained afterwards must be each pass exactly once. The optimizers' counts and learning rates must be those of an
 * unbroken run, and in deterministic modes its bits, too. Cells that make no sense are refused, and stand in the
 * documentation.
 */
@ExtendWith(BlockedLoopGuard.class)
class ResumeMatrixTest {

  private static final int PASSES = 3;
  private static final int TRAINERS = 2;
  private static final int OTHER_TRAINERS = 4;
  private static final long STEPS_PER_PASS = ExampleTally.EXAMPLES / (TRAINERS * ExampleTally.BATCH);
  private static final float OTHER_RATE = 0.25f;

  /** Mode of a job, with its keys. */
  enum Mode {
    SYNC, HALF_ASYNC, ASYNC, SSP("staleness_bound", 4), LAZY_ASYNC("k_steps", 2),
    DOWNPOUR("push_steps", 2, "pull_steps", 3), GEO("k_steps", 2), COLLECTIVE,
    LOCALSGD("localsgd", true, "localsgd_configs", new JsonObject().put("k_steps", 2).put("begin_step", 0)),
    ADAPTIVE_LOCALSGD("adaptive_localsgd", true, "adaptive_localsgd_configs",
        new JsonObject().put("init_k_steps", 2).put("begin_step", 1)),
    DGC("dgc", true, "dgc_configs", new JsonObject().put("sparsity", new JsonArray().add(0.75))),
    ELASTIC("min_trainers", 1);

    private final JsonObject keys = new JsonObject();

    Mode(Object... keys) {
      JsonObject own = new JsonObject();
      for (int i = 0; i < keys.length; i += 2) {
        own.put((String) keys[i], keys[i + 1]);
      }
      if (onServers()) {
        this.keys.put("mode", lower()).put("servers", 2).mergeIn(own);
      } else {
        this.keys.put("mode", "collective").put("collective", own);
      }
    }

    String lower() {
      return name().toLowerCase(Locale.ROOT);
    }

    boolean onServers() {
      return io.regatta.core.exchange.Mode.find(name()).map(io.regatta.core.exchange.Mode::needsServers).orElse(false);
    }

    /** Whether all trainers make each step together. */
    boolean inStep() {
      return this == SYNC || !onServers();
    }

    /** Whether an update is made for each push. */
    boolean updatesByPush() {
      return this == HALF_ASYNC || this == ASYNC || this == SSP || this == LAZY_ASYNC || addsUp();
    }

    /** Whether a push may have the gradients of several steps, so that an update is at the rate of the last of them. */
    boolean addsUp() {
      return this == DOWNPOUR;
    }

    boolean dependsOnSnapshots() {
      return this == LOCALSGD || this == ADAPTIVE_LOCALSGD;
    }

    /** Which optimizer the others are replaced by. */
    String otherOptimizer() {
      return this == LOCALSGD || this == ADAPTIVE_LOCALSGD || this == DGC ? "momentum" : "adam";
    }
  }

  /** Way to take snapshots, the steps at which lives are cut, and the last snapshots until there. */
  enum Taken {
    EVERY_STEP(5, 5, 10, 10, "every_steps", 1), EVERY_PASS(9, 6, 15, 12, "every_pass", true),
    BATCH(5, 4, 11, 10, "batch_every_steps", 2), BASE_AND_DELTAS(5, 4, 11, 10, "every_steps", 2, "deltas", 2),
    ASKED_FOR(5, 3, 11, 9);

    private final long firstCut;
    private final long firstSnapshot;
    private final long secondCut;
    private final long secondSnapshot;
    private final JsonObject keys = new JsonObject();

    Taken(long firstCut, long firstSnapshot, long secondCut, long secondSnapshot, Object... keys) {
      this.firstCut = firstCut;
      this.firstSnapshot = firstSnapshot;
      this.secondCut = secondCut;
      this.secondSnapshot = secondSnapshot;
      for (int i = 0; i < keys.length; i += 2) {
        this.keys.put((String) keys[i], keys[i + 1]);
      }
    }

    Map<Long, SnapshotKind> asked() {
      return this == ASKED_FOR ? Map.of(firstSnapshot, SnapshotKind.FULL, secondSnapshot, SnapshotKind.FULL) : Map.of();
    }
  }

  /** Way to resume. */
  enum Resumed { TWICE, OTHER_TRAINERS, OTHER_SHARDS, OTHER_OPTIMIZER }

  @TempDir
  static Path dir;

  private static final Map<String, Ended> UNBROKEN = new HashMap<>();
  private static final Map<Mode, Map<Taken, Path>> CUT = new EnumMap<>(Mode.class);

  /** Values that count what was trained. */
  private record Values(Map<Long, Float> rows, float[] weights, float bias) {}

  /** A run that has ended. */
  private record Ended(RunResult result, Values values, Manifest manifest, List<ExampleTally.Trained> trained) {}

  static List<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (Mode mode : Mode.values()) {
      for (Taken taken : Taken.values()) {
        for (Resumed resumed : Resumed.values()) {
          cells.add(Arguments.of(mode, taken, resumed));
        }
      }
    }
    return cells;
  }

  /** Returns the name in the message that refuses to take snapshots this way; empty if they are taken. */
  private static String refusedBy(Mode mode, Taken taken) {
    return mode == Mode.ELASTIC && taken == Taken.ASKED_FOR ? "in the middle of a pass" : "";
  }

  /** Key that the message names that refuses to resume this way; empty if it is resumed. */
  private static String refusedBy(Mode mode, Resumed resumed) {
    return resumed == Resumed.OTHER_SHARDS && !mode.onServers() ? "servers"
        : resumed == Resumed.OTHER_OPTIMIZER && mode == Mode.GEO ? "optimizer.kind" : "";
  }

  private static JobConfig job(Mode mode, Taken taken, String name, Path snapshots, JsonObject other) {
    JsonArray boundaries = new JsonArray();
    JsonArray rates = new JsonArray().add(rate(0));
    for (int step = 1; step < 60; step++) {
      boundaries.add(step);
      rates.add(rate(step));
    }
    JsonObject schedule = new JsonObject().put("kind", "piecewise").put("boundaries", boundaries).put("values", rates);
    JsonObject job = new JsonObject().put("job", "tally").put("trainers", TRAINERS)
        .put("batch_size", ExampleTally.BATCH)
        .put("epochs", PASSES).put("compute_threads", 1).put("model_thread_idle_ms", 5000).put("min_block", 4)
        .put("optimizer", new JsonObject().put("kind", "sgd").put("schedule", schedule))
        .put("snapshots", new JsonObject().put("dir", snapshots.toString()).put("keep", 100).mergeIn(taken.keys))
        .put("output", dir.resolve("model-" + name).toString()).mergeIn(mode.keys, true);
    if (mode.onServers()) {
      job.put("sparse_optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 1)
          .put("schedule", mode == Mode.GEO ? schedule.copy() : new JsonObject()));
    }
    return JobConfig.of(job.mergeIn(other, true));
  }

  /** Rates that no two steps share, and whose sums are exact. */
  private static double rate(long step) {
    return 1 + step * step / 4096.0;
  }

  private static double sumOfRates(long steps) {
    return LongStream.range(0, steps).mapToDouble(ResumeMatrixTest::rate).sum();
  }

  private static RunResult run(JobConfig job, ExampleTally program) {
    LocalCluster.Options options = LocalCluster.Options.of(job).withProgram(program).withoutHazelcast();
    return LocalCluster.run(options.withProgress(Progress.none())).get(0);
  }

  private static ExampleTally.Life whole(Path snapshots, Taken taken) {
    return new ExampleTally.Life(List.of(), snapshots, 0, taken.asked());
  }

  private static Ended toItsEnd(JobConfig job, Taken taken) throws IOException {
    Path snapshots = Path.of(job.snapshots().dir());
    ExampleTally program = new ExampleTally(whole(snapshots, taken));
    RunResult result = run(job, program);
    Manifest last = Snapshots.list(snapshots).stream().map(Snapshots.Found::manifest)
        .filter(manifest -> manifest.kind() == SnapshotKind.FULL).reduce((a, b) -> b).orElseThrow();
    return new Ended(result, values(Path.of(job.output())), last, program.trained());
  }

  private static Values values(Path model) throws IOException {
    float[] weights;
    float[] bias;
    try (SafetensorsFile dense = SafetensorsFile.open(model.resolve("dense.safetensors"))) {
      List<String> names = dense.tensors().stream().map(TensorInfo::name).toList();
      weights = dense.floats(names.stream().filter(n -> n.endsWith("weight")).findFirst().orElseThrow());
      bias = dense.floats(names.stream().filter(n -> n.endsWith("bias")).findFirst().orElseThrow());
    }
    Map<Long, Float> rows = new TreeMap<>();
    Path table = model.resolve("table-" + ExampleTally.TABLE + ".safetensors");
    if (Files.exists(table)) {
      try (SafetensorsFile file = SafetensorsFile.open(table)) {
        long[] ids = new long[Math.toIntExact(file.tensor("ids", TensorInfo.I64).elements())];
        file.read("ids", TensorInfo.I64).longs(ids, 0, ids.length);
        float[] values = file.floats("values");
        for (int i = 0; i < ids.length; i++) {
          rows.put(ids[i], values[i]);
        }
      }
    }
    return new Values(rows, weights, bias[0]);
  }

  private static Ended unbroken(Mode mode, Taken taken) throws IOException {
    String name = mode + (mode.dependsOnSnapshots() ? "-" + taken : "");
    Ended known = UNBROKEN.get(name);
    if (known == null) {
      known = toItsEnd(job(mode, taken, "unbroken-" + name, dir.resolve("unbroken-" + name), new JsonObject()), taken);
      UNBROKEN.put(name, known);
    }
    return known;
  }

  /** A copy of the snapshots of a run that was cut in its first life. */
  private static Path cut(Mode mode, Taken taken, String name) throws IOException {
    Path cut = CUT.computeIfAbsent(mode, m -> new EnumMap<>(Taken.class)).get(taken);
    if (cut == null) {
      cut = Files.createTempDirectory(dir, "cut-" + mode + "-" + taken);
      JobConfig job = job(mode, taken, "cut-" + mode + "-" + taken, cut, new JsonObject());
      cut(job, mode, taken, taken.firstCut, taken.firstSnapshot);
      CUT.get(mode).put(taken, cut);
    }
    Path copy = dir.resolve("snapshots-" + name);
    Files.createDirectory(copy);
    try (Stream<Path> files = Files.walk(cut)) {
      for (Path file : files.filter(f -> !f.toString().contains(".part")).toList()) {
        if (!file.equals(cut)) {
          Files.copy(file, copy.resolve(cut.relativize(file)));
        }
      }
    }
    return copy;
  }

  /** Cuts a run. If trainers do not make steps together, the second is two steps behind. */
  private static List<ExampleTally.Trained> cut(JobConfig job, Mode mode, Taken taken, long step, long snapshot) {
    ExampleTally program = new ExampleTally(new ExampleTally.Life(List.of(step, mode.inStep() ? step : step - 2),
        Path.of(job.snapshots().dir()), snapshot, taken.asked()));
    assertThatThrownBy(() -> run(job, program)).hasStackTraceContaining(ExampleTally.CUT);
    return program.trained();
  }

  private static Values export(Path snapshots) throws IOException {
    Path model = Files.createTempDirectory(dir, "export").resolve("model");
    SnapshotRewrite.model(Snapshots.latest(snapshots).orElseThrow().dir(), model);
    return values(model);
  }

  @ParameterizedTest(name = "{0}, snapshots {1}, resumed {2}")
  @MethodSource("cells")
  void when_a_run_is_resumed_then_each_example_counts_once(Mode mode, Taken taken, Resumed resumed)
      throws IOException {
    String name = mode + "-" + taken + "-" + resumed;
    if (!refusedBy(mode, taken).isEmpty()) {
      JobConfig job = job(mode, taken, name, dir.resolve(name), new JsonObject());
      assertThatThrownBy(() -> toItsEnd(job, taken)).hasMessageContaining(refusedBy(mode, taken));
      return;
    }
    Path snapshots = cut(mode, taken, name);
    String key = refusedBy(mode, resumed);
    if (!key.isEmpty()) {
      JsonObject other = resumed == Resumed.OTHER_OPTIMIZER ? otherOptimizer(mode, snapshots)
          : new JsonObject().put("servers", 3).put("resume", "auto");
      assertThatThrownBy(() -> toItsEnd(job(mode, taken, name, snapshots, other), taken)).hasMessageContaining(key);
      return;
    }
    switch (resumed) {
      case TWICE -> twice(mode, taken, name, snapshots);
      case OTHER_TRAINERS -> otherTrainers(mode, taken, name, snapshots);
      case OTHER_SHARDS -> otherShards(mode, taken, name, snapshots);
      default -> initFrom(mode, taken, name, snapshots);
    }
  }

  private static void twice(Mode mode, Taken taken, String name, Path snapshots) throws IOException {
    JobConfig job = job(mode, taken, name, snapshots, new JsonObject().put("resume", "auto"));
    Begun first = begun(mode, taken, snapshots);
    List<ExampleTally.Trained> second = cut(job, mode, taken, taken.secondCut, taken.secondSnapshot);
    if (taken != Taken.EVERY_PASS) {
      assertPassesAreWhole(first, second, 0);
    }
    Begun again = begun(mode, taken, snapshots);
    Ended ended = toItsEnd(job, taken);
    assertPassesAreWhole(again, ended.trained(), PASSES - 1);
    assertExamples(again, ended);
    assertAsUnbroken(mode, taken, ended);
    assertUpdates(mode, again, ended);
  }

  private static void otherShards(Mode mode, Taken taken, String name, Path snapshots) throws IOException {
    JsonObject shards = new JsonObject().put("resume", "auto").put("servers", 1).put("shards", 3);
    JobConfig job = job(mode, taken, name, snapshots, shards);
    Begun begun = begun(mode, taken, snapshots);
    Ended ended = toItsEnd(job, taken);
    assertPassesAreWhole(begun, ended.trained(), PASSES - 1);
    assertExamples(begun, ended);
    assertAsUnbroken(mode, taken, ended);
    assertUpdates(mode, begun, ended);
    if (mode == Mode.GEO) {
      Map<Long, Float> unbroken = unbroken(mode, taken).values().rows();
      Map<Long, Float> rows = ended.values().rows();
      all().stream().filter(e -> begun.times().get(e.intValue()) == 0).forEach(e -> assertThat(rows.get(e))
          .as("row %d, which the resumed life alone has trained", e).isEqualTo(unbroken.get(e)));
    }
  }

  private static void otherTrainers(Mode mode, Taken taken, String name, Path snapshots) throws IOException {
    JsonObject trainers = new JsonObject().put("resume", "auto").put("trainers", OTHER_TRAINERS);
    JobConfig job = job(mode, taken, name, snapshots, trainers);
    Begun begun = begun(mode, taken, snapshots);
    Ended ended = toItsEnd(job, taken);
    assertPassesAreWhole(begun, ended.trained(), PASSES - 1);
    assertExamples(begun, ended);
    assertUpdates(mode, begun, ended);
  }

  private static JsonObject otherOptimizer(Mode mode, Path snapshots) {
    JsonObject optimizer = new JsonObject().put("kind", mode.otherOptimizer()).put("learning_rate", OTHER_RATE)
        .put("schedule", new JsonObject().put("kind", "constant").put("boundaries", new JsonArray())
            .put("values", new JsonArray()));
    JsonObject keys = new JsonObject().put("init_from", snapshots.toString()).put("job", "next").put("epochs", 1)
        .put("optimizer", optimizer).put("snapshots", new JsonObject().put("dir", snapshots + "-next"));
    return mode.onServers() ? keys.put("sparse_optimizer", new JsonObject().put("kind", mode.otherOptimizer())
        .put("learning_rate", OTHER_RATE)) : keys;
  }

  /** The first update is the first of the new optimizer, whatever the number of those before. */
  private static void initFrom(Mode mode, Taken taken, String name, Path snapshots) throws IOException {
    Values before = export(snapshots);
    JobConfig one = job(mode, taken, name + "-one", snapshots, otherOptimizer(mode, snapshots).put("max_steps", 1));
    Values after = toItsEnd(one, taken).values();
    float most = 0;
    for (int e = 0; e < ExampleTally.EXAMPLES; e++) {
      most = Math.max(most, after.weights()[e] - before.weights()[e]);
    }
    if (mode.otherOptimizer().equals("adam")) {
      double updates = mode.updatesByPush() ? 1.7 : 1.001; // the second of two moves a weight by the first's moments
      assertThat((double) most).as("largest first step of adam").isBetween(0.99 * OTHER_RATE, updates * OTHER_RATE);
      for (Map.Entry<Long, Float> row : after.rows().entrySet()) {
        assertThat((double) row.getValue() - before.rows().getOrDefault(row.getKey(), 0f)).as("row %d", row.getKey())
            .isBetween(0.0, updates * OTHER_RATE);
      }
    }
    Path next = Path.of(otherOptimizer(mode, snapshots).getJsonObject("snapshots").getString("dir") + "-whole");
    JsonObject keys = otherOptimizer(mode, snapshots);
    keys.getJsonObject("snapshots").put("dir", next.toString());
    Ended ended = toItsEnd(job(mode, taken, name, snapshots, keys), taken);
    assertThat(examples(ended.trained(), 0)).as("examples of the new run").isEqualTo(all());
    assertThat(ended.result().examples()).as("their number").isEqualTo(ExampleTally.EXAMPLES);
    assertThat(ended.result().examplesResumed()).as("of another run").isZero();
    if (mode.addsUp()) { // an odd step at which a snapshot is asked for is pushed alone
      long apart = taken == Taken.ASKED_FOR ? TRAINERS : 0;
      assertThat(ended.manifest().updates().dense()).as("updates of the new optimizer")
          .isEqualTo(ended.trained().size() / 2 + apart);
      return;
    }
    long updates = mode.updatesByPush() ? ended.trained().size() : STEPS_PER_PASS;
    if (mode == Mode.DGC) { // ranks have the momentum, and their optimizers sgd as before
      updates += Snapshots.latest(snapshots).orElseThrow().manifest().updates().dense();
    }
    assertThat(ended.manifest().updates().dense()).as("updates of the new optimizer").isEqualTo(updates);
  }

  /** Snapshot that a life begins with: its manifest, values, and how often each example is in it. */
  private record Begun(Manifest manifest, Values values, List<Integer> times) {

    /** Examples of a pass that are in the snapshot: each is trained once in a pass. */
    List<Long> inside(int pass) {
      return all().stream().filter(e -> times.get(e.intValue()) > pass).toList();
    }
  }

  private static Begun begun(Mode mode, Taken taken, Path snapshots) throws IOException {
    Manifest manifest = Snapshots.latest(snapshots).orElseThrow().manifest();
    Values values = export(snapshots);
    List<Integer> times = all().stream().map(e -> taken == Taken.EVERY_PASS ? manifest.pass() + 1
        : mode.inStep() ? timesOfSteps(manifest.step(), e)
        : timesOfRow(mode, values.rows().getOrDefault(e, 0f))).toList();
    return new Begun(manifest, values, times);
  }

  private static int timesOfSteps(long steps, long example) {
    long inPass = steps % STEPS_PER_PASS * TRAINERS * ExampleTally.BATCH;
    return (int) (steps / STEPS_PER_PASS) + (example < inPass ? 1 : 0);
  }

  /** Reads it from the values, not from the progress that trainers report. */
  private static int timesOfRow(Mode mode, double row) {
    if (mode == Mode.GEO) { // half of what a row has moved is sent: 0.26 at most after one pass, 0.5 or more after two
      return row == 0 ? 0 : row < 0.3 ? 1 : 2;
    }
    double times = row * ExampleTally.BATCH;
    assertThat(times).as("times that an example is in the snapshot").isIn(0.0, 1.0, 2.0);
    return (int) times;
  }

  private static List<Long> all() {
    return LongStream.range(0, ExampleTally.EXAMPLES).boxed().toList();
  }

  private static List<Long> examples(List<ExampleTally.Trained> trained, int pass) {
    return trained.stream().filter(t -> t.pass() == pass).flatMap(t -> t.examples().stream()).sorted().toList();
  }

  /** Each pass up to the last has each example once: in the snapshot, or trained by the life resumed from it. */
  private static void assertPassesAreWhole(Begun begun, List<ExampleTally.Trained> trained, int last) {
    Map<Integer, List<Long>> passes = new TreeMap<>();
    Map<Integer, List<Long>> expected = new TreeMap<>();
    for (int pass = 0; pass <= last; pass++) {
      List<Long> examples = new ArrayList<>(examples(trained, pass));
      examples.addAll(begun.inside(pass));
      passes.put(pass, examples.stream().sorted().toList());
      expected.put(pass, all());
    }
    assertThat(passes).as("examples in %s and trained after it, by pass", begun.manifest().kind()).isEqualTo(expected);
  }

  /** The result counts what all lives have trained, and the manifests what is in each snapshot. */
  private static void assertExamples(Begun begun, Ended ended) {
    long inside = begun.times().stream().mapToLong(Integer::longValue).sum();
    long all = (long) PASSES * ExampleTally.EXAMPLES;
    assertThat(begun.manifest().examples()).as("examples in the snapshot").isEqualTo(new ExampleCounts(inside, 0, 0));
    assertThat(ended.result().examples()).as("examples of all lives").isEqualTo(all);
    assertThat(ended.result().examplesResumed()).as("examples resumed").isEqualTo(inside);
    assertThat(ended.result().examplesRepeated()).as("examples trained more than once").isZero();
    assertThat(ended.manifest().examples().trained()).as("examples in the last whole snapshot")
        .isLessThanOrEqualTo(all);
  }

  private static void assertAsUnbroken(Mode mode, Taken taken, Ended ended) throws IOException {
    Ended unbroken = unbroken(mode, taken);
    assertThat(ended.result().steps()).as("steps").isEqualTo(unbroken.result().steps());
    if (mode == Mode.GEO) { // a life's local copies, which are ahead of the servers, end with it
      assertThat(ended.manifest().trainers()).as("learning-rate steps")
          .allMatch(trainer -> trainer.progress().learningRateStep() == PASSES * STEPS_PER_PASS);
      return;
    }
    assertThat(ended.values().rows()).as("rows").isEqualTo(unbroken.values().rows());
    if (mode.addsUp()) { // which steps are pushed together depends on where a life has begun
      assertThat(ended.manifest().trainers()).as("learning-rate steps")
          .allMatch(trainer -> trainer.progress().learningRateStep() == PASSES * STEPS_PER_PASS);
      return;
    }
    assertThat(ended.values().bias()).as("sum of the learning rates").isEqualTo(unbroken.values().bias());
    assertThat(ended.manifest().updates().dense()).as("updates").isEqualTo(unbroken.manifest().updates().dense());
    if (!mode.updatesByPush()) {
      assertThat(ended.result().parametersHash()).as("hash of the parameters")
          .isEqualTo(unbroken.result().parametersHash());
    }
  }

  /** Checks that updates continue from those in the snapshot, each with the rate of its number. */
  private static void assertUpdates(Mode mode, Begun begun, Ended ended) {
    long updates = ended.manifest().updates().dense();
    if (mode.addsUp()) {
      assertThat(updates).as("updates").isBetween(begun.manifest().updates().dense() + ended.trained().size() / 2,
          begun.manifest().updates().dense() + ended.trained().size() - 1);
    } else if (mode.updatesByPush()) { // each with the rate of its trainer's step
      assertThat(updates).as("updates").isEqualTo(begun.manifest().updates().dense() + ended.trained().size());
      double rates = begun.values().bias();
      for (Manifest.Trainer trainer : ended.manifest().trainers()) {
        long last = trainer.progress().learningRateStep();
        long first = last - ended.trained().stream().filter(t -> t.rank() == trainer.rank()).count();
        assertThat(first).as("first learning-rate step of trainer %d", trainer.rank()).isPositive();
        rates += sumOfRates(last) - sumOfRates(first);
      }
      assertThat((double) ended.values().bias()).as("sum of the rates of %d updates", updates).isEqualTo(rates);
    } else if (mode == Mode.SYNC || mode == Mode.COLLECTIVE || mode == Mode.ELASTIC) {
      assertThat((double) ended.values().bias()).as("sum of the rates of %d updates", updates)
          .isEqualTo(sumOfRates(updates));
    }
  }

  @Test
  void lists_every_refusal_in_the_documentation() throws IOException {
    assertThat(Checkout.text("docs/snapshots.md")).contains(Stream.of(Mode.values()).map(ResumeMatrixTest::row)
        .collect(Collectors.joining("\n", "\n", "\n\n")));
  }

  private static String row(Mode mode) {
    Stream<String> taken = Stream.of(Taken.values()).map(way -> refusedBy(mode, way));
    Stream<String> resumed = Stream.of(Resumed.values()).map(way -> refusedBy(mode, way))
        .map(key -> key.isEmpty() ? key : "`" + key + "`");
    return Stream.concat(taken, resumed).map(by -> by.isEmpty() ? "yes" : "refused: " + by)
        .collect(Collectors.joining(" | ", "| `" + mode.lower() + "` | ", " |"));
  }
}
