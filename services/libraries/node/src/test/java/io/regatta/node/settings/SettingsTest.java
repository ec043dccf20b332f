package io.regatta.node.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.NodeConfig;
import io.regatta.node.settings.EffectiveConfig.Dictated;
import io.regatta.node.settings.Settings.Sources;
import io.soabase.recordbuilder.core.RecordBuilder;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {

  enum Kind { PLAIN, HALF_ASYNC }

  record Rate(
      @Setting(value = "0.01", doc = "step size") double learningRate,
      @Setting(value = "plain", doc = "kind") Kind kind) {
    Rate {
      if (learningRate <= 0) {
        throw new InvalidInput("learning_rate must be positive, got " + learningRate);
      }
    }
  }

  record Table(@Setting(doc = "name", required = true) String name, @Setting(value = "10", doc = "width") int dim) {}

  @RecordBuilder
  record Job(
      @Setting(value = "2", unit = "steps", doc = "steps") int maxSteps,
      @Setting(value = "7", doc = "seed") long seed,
      @Setting(value = "true", doc = "shuffle") boolean shuffle,
      @Setting(doc = "label") String label,
      @Setting(doc = "optimizer") Rate optimizer,
      @Setting(doc = "hosts") List<String> hosts,
      @Setting(value = "1,2", doc = "sizes") List<Integer> sizes,
      @Setting(doc = "tables") List<Table> tables,
      @Setting(doc = "named tables") Map<String, Table> named,
      @Setting(doc = "labels") Map<String, String> labels,
      @Setting(doc = "the program's own") JsonObject settings) implements SettingsTestJobBuilder.With {}

  private static Vertx vertx;

  @TempDir
  Path dir;

  @BeforeAll
  static void open() {
    vertx = Vertx.vertx();
  }

  @AfterAll
  static void close() {
    get(vertx.close());
  }

  private static Sources ofFile(Path file) {
    return Sources.NONE.withFile(file);
  }

  @Test
  void defaultsComeFromTheAnnotations() {
    Job job = Settings.defaults(Job.class);
    assertThat(job).isEqualTo(new Job(2, 7, true, "", new Rate(0.01, Kind.PLAIN), List.of(), List.of(1, 2), List.of(),
        Map.of(), Map.of(), new JsonObject()));
  }

  @Test
  void jsonAndYamlSayTheSame() throws IOException {
    Path json = write("job.json", """
        {"max_steps": 5, "optimizer": {"learning_rate": 1e-3, "kind": "half-async"}, "hosts": ["a", "b"],
         "sizes": [3], "tables": [{"name": "user", "dim": 4}, {"name": "item"}], "named": {"x": {"name": "y"}},
         "labels": {"team": "red"}, "settings": {"depth": {"deep": 3}, "words": [1, "two"]}}""");
    Path yaml = write("job.yaml", """
        # a comment
        max_steps: 5
        optimizer:
          learning_rate: 1e-3
          kind: half_async
        hosts: [a, b]
        sizes: [3]
        tables:
          - name: user
            dim: 4
          - name: item
        named: {x: {name: y}}
        labels: {team: red}
        settings:
          depth: {deep: 3}
          words: [1, two]
        """);
    Job expected = new Job(5, 7, true, "", new Rate(0.001, Kind.HALF_ASYNC), List.of("a", "b"), List.of(3),
        List.of(new Table("user", 4), new Table("item", 10)), Map.of("x", new Table("y", 10)), Map.of("team", "red"),
        new JsonObject("{\"depth\": {\"deep\": 3}, \"words\": [1, \"two\"]}"));
    assertThat(load(ofFile(json))).isEqualTo(expected);
    assertThat(load(ofFile(yaml))).isEqualTo(expected);
  }

  @Test
  void anEmptyFileMeansDefaults() throws IOException {
    assertThat(load(ofFile(write("a.yaml", "")))).isEqualTo(Settings.defaults(Job.class));
    assertThat(load(ofFile(write("b.yaml", "# nothing\n")))).isEqualTo(Settings.defaults(Job.class));
    assertThat(load(ofFile(write("c.json", "{}")))).isEqualTo(Settings.defaults(Job.class));
  }

  @Test
  void eachSourceWinsOverTheOnesBeforeItAndIsNamed() throws IOException {
    Path file = write("job.yaml", """
        max_steps: 1
        seed: 1
        label: file
        shuffle: false
        hosts: [file]
        optimizer: {learning_rate: 0.5, kind: half_async}
        """);
    Sources sources = Sources.NONE.withFile(file)
        .withEnvironment(Map.of("REGATTA_SEED", "2", "REGATTA_LABEL", "environment", "REGATTA_HOSTS", "e1, e2",
            "REGATTA_SHUFFLE", "true", "REGATTA_LOG", "DEBUG", "PATH", "/bin"))
        .withProperties(Map.of("regatta.label", "property", "regatta.hosts", "[\"p\"]", "regatta.root", "/x", "java.home", "/y"))
        .withOverrides(List.of("hosts=cli", "optimizer.learning_rate=2e-1", "settings.a.b=[1,2]", "settings.a.c=text",
            "labels=x=1,y=2"))
        .withCode(new JsonObject().put("labels", new JsonObject().put("y", "code")));

    EffectiveConfig effective = get(Settings.load(vertx, Schema.of(Job.class), sources));
    assertThat(effective.bind(Job.class)).isEqualTo(new Job(1, 2, true, "property", new Rate(0.2, Kind.HALF_ASYNC),
        List.of("cli"), List.of(1, 2), List.of(), Map.of(), Map.of("x", "1", "y", "code"),
        new JsonObject("{\"a\": {\"b\": [1, 2], \"c\": \"text\"}}")));
    assertThat(effective.origin("max_steps")).isEqualTo("file " + file);
    assertThat(effective.origin("seed")).isEqualTo("environment variable REGATTA_SEED");
    assertThat(effective.origin("label")).isEqualTo("system property regatta.label");
    assertThat(effective.origin("hosts")).isEqualTo("--set hosts");
    assertThat(effective.origin("labels.y")).isEqualTo("code");
    assertThat(effective.origin("tables")).isEqualTo("default");
    assertThat(effective.lines()).extracting(EffectiveConfig.Line::toString)
        .contains("seed = 2  (environment variable REGATTA_SEED)", "sizes = 1,2  (default)",
            "optimizer.learning_rate = 2e-1  (--set optimizer.learning_rate)");
  }

  @Test
  void anUnknownKeyIsNamedWithTheNearestKnownOne() throws IOException {
    refused(ofFile(write("a.yaml", "optimiser: {learning_rate: 1}")), "'optimiser'", "'optimizer'", "a.yaml");
    refused(ofFile(write("b.yaml", "optimizer: {lerning_rate: 1}")), "'optimizer.lerning_rate'",
        "'optimizer.learning_rate'");
    refused(ofFile(write("twice.yaml", "sizes: 8\nhosts: a\nsizes: 9\n")), "twice.yaml", "line 3", "duplicate key sizes");
    refused(ofFile(write("twice.json", "{\"sizes\": 8,\n \"sizes\": 9}")), "twice.json", "line 2", "Duplicate field 'sizes'");
    refused(ofFile(write("c.yaml", "learning_rate: 1")), "'learning_rate'", "'optimizer.learning_rate'");
    refused(ofFile(write("d.yaml", "tables: [{name: x, dims: 3}]")), "'tables[0].dims'", "'tables[0].dim'", "d.yaml");
    refused(override("optimizer.kinds=plain"), "'optimizer.kinds'", "'optimizer.kind'", "--set");
    refused(environment("REGATTA_OPTIMIZER_LEARNIN_RATE", "1"), "REGATTA_OPTIMIZER_LEARNIN_RATE",
        "nearest known variable is REGATTA_OPTIMIZER_LEARNING_RATE");
    refused(environment("REGATTA_MAXSTEPS", "1"), "environment variable REGATTA_MAXSTEPS", "is REGATTA_MAX_STEPS;");
    refused(environment("REGATTA_SETTINGS_DEPTH", "1"), "REGATTA_SETTINGS_DEPTH", "REGATTA_SETTINGS;");
    refused(environment("REGATTA_OPTIMIZER", "adam"), "'optimizer'", "expected section", "REGATTA_OPTIMIZER");
    refused(property("regatta.optimizer.rate"), "system property regatta.optimizer.rate");
    refused(property("regatta.maxsteps"), "system property regatta.maxsteps", "'max_steps'");
    refused(property("regatta.optimzer.kind"), "system property regatta.optimzer.kind", "'optimizer.kind'");
    refused(property("regatta.optimizer"), "'optimizer'", "expected section", "system property regatta.optimizer");
  }

  /** A file is mended once: names and values of all sections. */
  @Test
  void allMistakesOfAFileAreSaidAtOnce() throws IOException {
    Path file = write("many.yaml", "optimiser: 1\nseed: x\noptimizer: {kind: quick, lerning_rate: 1}\nshuffle: true\n");
    assertThatThrownBy(() -> load(ofFile(file))).isInstanceOf(InvalidInput.class).hasMessage("4 mistakes in the configuration: "
        + "(1) unknown key 'optimiser' (file " + file + "); the nearest known key is 'optimizer'; "
        + "(2) key 'seed': expected long, got \"x\" (file " + file + "); "
        + "(3) unknown key 'optimizer.lerning_rate' (file " + file + "); the nearest known key is 'optimizer.learning_rate'; "
        + "(4) key 'optimizer.kind': expected plain | half_async, got \"quick\" (file " + file + ")");
    EffectiveConfig given = get(Settings.load(vertx, Schema.of(Job.class), ofFile(file)));
    assertThatThrownBy(given::checkNames).hasMessageStartingWith("2 mistakes in the configuration: ");
  }

  @Test
  void aVariableThatIsNoKeySaysWhatToDo() {
    assertThatThrownBy(() -> load(environment("REGATTA_FOO", "1"))).isInstanceOf(InvalidInput.class).hasMessage(
        "environment variable REGATTA_FOO: there is no key 'foo'; unset it, or call it REGATTA_APP_... if it is a program's own");
    for (Map.Entry<String, String> link : Map.of("REGATTA_PORT", "tcp://1.2.3.4:80", "REGATTA_SERVICE_HOST", "1.2.3.4",
        "REGATTA_SERVICE_PORT_HTTP", "80", "REGATTA_PORT_80_TCP_PROTO", "tcp").entrySet()) {
      assertThatThrownBy(() -> load(environment(link.getKey(), link.getValue()))).isInstanceOf(InvalidInput.class).message()
          .contains("environment variable " + link.getKey(), "Kubernetes", "enableServiceLinks: false").doesNotContain("nearest");
    }
  }

  @Test
  void aLogLevelThatThereIsNoneOfIsRefused() {
    for (String bad : List.of("LOUD", "")) {
      refused(environment("REGATTA_LOG", bad), "REGATTA_LOG", "\"" + bad + "\"", "ERROR, WARN, INFO, DEBUG, TRACE");
    }
    assertThat(load(environment("REGATTA_LOG", "debug"))).isEqualTo(Settings.defaults(Job.class));
  }

  @Test
  void namesThatOthersReadArePassedOver() {
    Map<String, String> environment = Map.of("REGATTA_LOG", "DEBUG", "REGATTA_JAVA_OPTS", "-Xmx1g", "REGATTA_APP_X",
        "1", "REGATTA_ECHO_WORD", "x", "REGATTA_RATE_KIND", "plain");
    Map<String, String> properties = Map.of("regatta.root", "/x", "regatta.data", "/y", "regatta.app.x", "1",
        "regatta.echo.word", "x", "regatta.rate.learning_rate", "1");
    Sources sources = Sources.NONE.with(s -> s.environment(environment).properties(properties).ignored(List.of("echo")));
    Schema schema = Schema.of(Job.class).beside(Schema.sections(Map.of("rate", Rate.class)));
    assertThat(get(Settings.load(vertx, schema, sources)).bind(Job.class)).isEqualTo(Settings.defaults(Job.class));
    assertThatThrownBy(() -> get(Settings.load(vertx, schema, property("regatta.rate.kin")))).message()
        .contains("'rate.kind'", "system property regatta.rate.kin");
    OtherNames.described().keySet().forEach(name -> assertThat(OtherNames.contains(name)).as(name).isTrue());
  }

  @Test
  void aMistypedValueIsNamedWithItsSourceAndTheExpectedType() throws IOException {
    refused(ofFile(write("a.json", "{\"max_steps\": \"many\"}")), "'max_steps'", "expected int", "\"many\"",
        "a.json");
    refused(ofFile(write("b.json", "{\"max_steps\": 1.5}")), "'max_steps'", "expected int", "1.5");
    refused(ofFile(write("c.json", "{\"shuffle\": \"si\"}")), "'shuffle'", "expected boolean");
    refused(ofFile(write("d.json", "{\"optimizer\": 3}")), "'optimizer'", "expected section", "3");
    refused(ofFile(write("e.json", "{\"hosts\": {\"a\": 1}}")), "'hosts'", "expected list of string");
    refused(ofFile(write("f.json", "{\"sizes\": [1, \"x\"]}")), "'sizes[1]'", "expected int");
    refused(override("optimizer.kind=quick"), "'optimizer.kind'", "plain | half_async", "\"quick\"", "--set");
    refused(environment("REGATTA_SEED", "99999999999999999999"), "'seed'", "expected long", "REGATTA_SEED");
    refused(ofFile(write("g.json", "{\"tables\": [{\"dim\": 1}]}")), "'tables[0].name'", "missing");
    refused(override("optimizer.learning_rate=-1"), "section 'optimizer'", "must be positive");
    refused(override("nonsense"), "--set nonsense", "key=value");
  }

  /** A typo shows no token, neither in the message nor in its cause. */
  @Test
  void whatMayHoldASecretIsNotRepeated() throws IOException {
    Schema schema = Schema.sections(Map.of("node", NodeConfig.class));
    String secret = "seenNowhereAtAll0123";
    for (Sources sources : List.of(environment("REGATTA_NODE", "{\"token\":\"" + secret + "\",}"),
        environment("REGATTA_NODE", secret), override("node.token:" + secret),
        ofFile(write("s.yaml", "node: " + secret)), ofFile(write("s.json", "{\"node\":\"" + secret + "\"}")),
        ofFile(write("raw.json", "{\"node\": {\"token\": " + secret + "}}")),
        ofFile(write("alias.yaml", "node: {token: *" + secret + "}")),
        ofFile(write("tag.yaml", "node: {token: !" + secret + " x}")),
        ofFile(write("open.yaml", "node: {token: " + secret)))) {
      assertThatThrownBy(() -> get(Settings.load(vertx, schema, sources)).bindSections()).isInstanceOf(InvalidInput.class)
          .satisfies(e -> {
            for (Throwable each = e; each != null; each = each.getCause()) {
              assertThat(each.toString()).doesNotContain(secret);
            }
          });
    }
  }

  @Test
  void oneElementIsAList() throws IOException {
    Job one = load(ofFile(write("one.yaml", "sizes: 8\nhosts: a\n")));
    assertThat(one.sizes()).containsExactly(8);
    assertThat(one.hosts()).containsExactly("a");
    assertThat(load(override("sizes=8")).sizes()).containsExactly(8);
    record Program(@Setting(doc = "widths") List<Integer> hidden) {}
    assertThat(Settings.bind(load(override("settings.hidden=8")).settings(), Program.class).hidden()).containsExactly(8);
    assertThatThrownBy(() -> Settings.bind(new JsonObject().put("hiden", 1), Program.class, "settings"))
        .isInstanceOf(InvalidInput.class)
        .hasMessage("unknown key 'settings.hiden'; the nearest known key is 'settings.hidden'");
  }

  @Test
  void aMapKnowsWhereItsEntriesCameFrom() throws IOException {
    record Own(@Setting(doc = "the program's own") Map<String, Object> own) {}
    record Program(@Setting(value = "1", doc = "width") int width) {}
    record None() {}
    Path file = write("own.yaml", "own: {width: x, deep: {a: 1}}");
    Sources sources = Sources.NONE.withFile(file).withOverrides(List.of("own.depth=2"));
    Map<String, Object> own = get(Settings.load(vertx, Own.class, sources)).own();
    assertThat(own).isEqualTo(Map.of("width", "x", "depth", 2, "deep", Map.of("a", 1)));
    assertThatThrownBy(() -> Settings.bind(Map.of("width", "x"), Program.class, "own"))
        .hasMessage("key 'own.width': expected int, got \"x\"");
    assertThatThrownBy(() -> Settings.bind(own, None.class, "own")).isInstanceOf(InvalidInput.class)
        .hasMessage("unknown key 'own.width' (file " + file + "): there are no keys under 'own'");
    Map<String, Object> slip = get(Settings.load(vertx, Own.class, override("own.xyzzy=2"))).own();
    assertThatThrownBy(() -> Settings.bind(slip, Program.class, "own")).hasMessage("unknown key 'own.xyzzy' (--set own.xyzzy)");
  }

  @Test
  void aBrokenFileIsNamedWithLineAndColumn() throws IOException {
    refused(ofFile(write("a.json", "{\n  \"seed\": 1,\n  \"label\": x\n}")), "a.json, line 3, column 1");
    refused(ofFile(write("b.yaml", "seed: 1\nlabel: [a, b\nhosts: x\n")), "b.yaml, line 3, column ");
    refused(ofFile(write("c.yaml", "- a\n- b\n")), "c.yaml", "mapping of keys to values");
    refused(ofFile(write("d.json", "[1]")), "d.json");
    refused(ofFile(write("e.toml", "x")), "e.toml", ".json, .yaml or .yml");
    refused(ofFile(dir.resolve("none")), "none", "no such file");
    refused(ofFile(dir), dir.toString(), "is a directory");
    refused(ofFile(dir.resolve("none.json")), "none.json", "no such file");
    refused(ofFile(Files.createDirectory(dir.resolve("dir.json"))), "dir.json", "is a directory");
  }

  @Test
  void aValueThatIsDecidedElsewhereIsTakenAsItIsAndAnotherOneRefused() throws IOException {
    Job job = Settings.defaults(Job.class).with(b -> b.maxSteps(5).optimizer(new Rate(0.25, Kind.HALF_ASYNC)));
    record Part(@Setting(doc = "job") Job job, @Setting(value = "3", doc = "rank") int rank) {}
    Schema schema = Schema.sections(Map.of("part", Part.class));
    List<Dictated> theJob = List.of(new Dictated("job", job, "the job"), new Dictated("rank", 7, "the place"));
    for (String same : List.of("", "part: {rank: 7, job: {max_steps: 5, optimizer: {kind: half-async}}}")) {
      EffectiveConfig given = get(Settings.load(vertx, schema, ofFile(write("same.yaml", same))));
      Part bound = given.bindSection("part", Part.class, theJob);
      assertThat(bound.job()).isSameAs(job);
      assertThat(bound.rank()).isEqualTo(7);
    }
    for (Map.Entry<String, String> other : Map.of("part: {job: {max_steps: 6}}", "part.job.max_steps is 6 (file FILE), but the job says 5: "
        + "leave part.job.max_steps out, or say the same in both", "part: {job: {optimizer: {kind: plain}}}",
        "part.job.optimizer.kind is plain (file FILE), but the job says half_async: leave part.job.optimizer.kind out, or say the same in "
        + "both", "part: {rank: 8}", "part.rank is 8 (file FILE), but the place says 7: leave part.rank out, or say the same in both")
        .entrySet()) {
      Path file = write("other.yaml", other.getKey());
      EffectiveConfig given = get(Settings.load(vertx, schema, ofFile(file)));
      assertThatThrownBy(() -> given.bindSection("part", Part.class, theJob)).isInstanceOf(InvalidInput.class)
          .hasMessage(other.getValue().replace("FILE", file.toString()));
    }
  }

  @Test
  void everyKeyIsDescribed() {
    assertThat(Settings.describe(Job.class)).extracting(Schema.Entry::key).containsExactly("max_steps", "seed",
        "shuffle", "label", "optimizer.learning_rate", "optimizer.kind", "hosts", "sizes", "tables[].name",
        "tables[].dim", "named.<name>.name", "named.<name>.dim", "labels", "settings");
    assertThat(Settings.describe(Job.class).get(0))
        .isEqualTo(new Schema.Entry("max_steps", "int", "steps", "2", false, "steps", false));
  }

  @Test
  void everyNodeSettingHasADefaultAndADescription() {
    assertThat(NodeConfig.defaults().cluster().leaseSeconds()).isEqualTo(10);
    assertThat(Settings.describe(NodeConfig.class))
        .allSatisfy(entry -> assertThat(entry.doc()).as(entry.key()).isNotBlank())
        .allSatisfy(entry -> assertThat(entry.required()).as(entry.key()).isFalse());
  }

  private Job load(Sources sources) {
    return get(Settings.load(vertx, Job.class, sources));
  }

  private void refused(Sources sources, String... parts) {
    assertThatThrownBy(() -> load(sources)).isInstanceOf(InvalidInput.class).message()
        .contains(parts).doesNotContain("\n");
  }

  private static Sources override(String text) {
    return Sources.NONE.withOverrides(List.of(text));
  }

  private static Sources property(String name) {
    return Sources.NONE.withProperties(Map.of(name, "1"));
  }

  private static Sources environment(String name, String value) {
    return Sources.NONE.withEnvironment(Map.of(name, value));
  }

  private Path write(String name, String text) throws IOException {
    return Files.writeString(dir.resolve(name), text);
  }

  private static <T> T get(Future<T> future) {
    try {
      return future.await(20, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError(e);
    }
  }
}
