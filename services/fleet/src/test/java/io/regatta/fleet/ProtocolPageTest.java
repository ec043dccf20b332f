package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.hash.Mix64;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerRegistry;
import io.regatta.core.optim.OptimizerType;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.testing.TestClock;
import io.regatta.protocol.message.JobSpecs;
import io.regatta.protocol.tensor.DenseVariable;
import io.regatta.protocol.tensor.Hyperparameter;
import io.regatta.protocol.tensor.Optimizer;
import io.regatta.protocol.tensor.RegisterTrainer;
import io.regatta.protocol.tensor.SparseTable;
import io.regatta.protocol.tensor.TableLife;
import io.regatta.rendezvous.RendezvousConfig;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Test vectors, strings and defaults of docs/protocol-ranks.md, by which a client in another language is written. */
class ProtocolPageTest {

  private static final String PAGE = Checkout.text("docs/protocol-ranks.md");

  @Test
  void owners_of_rows_are_those_of_the_page() {
    assertThat(table("| id | shards | owner |")).hasSizeGreaterThan(5).allSatisfy(row ->
        assertThat(SparsePartition.shardOf(Long.parseLong(row.get(0)), Integer.parseInt(row.get(1))))
            .isEqualTo(Integer.parseInt(row.get(2))));
  }

  @Test
  void parts_of_dense_variables_are_those_of_the_page() {
    assertThat(table("| Variables | shards | `min_block` | Parts |")).hasSizeGreaterThan(2).allSatisfy(row -> {
      DensePartition partition =
          DensePartition.of(variables(row.get(0)), Integer.parseInt(row.get(1)), Integer.parseInt(row.get(2)));
      assertThat(String.join(", ", partition.describe())).isEqualTo(row.get(3));
    });
  }

  @Test
  void whole_variables_lie_where_the_page_says() {
    assertThat(table("| Whole variables | shards | Parts |")).hasSizeGreaterThan(1).allSatisfy(row -> {
      DensePartition partition =
          DensePartition.whole(variables(row.get(0)), Sharding.common(Integer.parseInt(row.get(1))));
      assertThat(String.join(", ", partition.describe())).isEqualTo(row.get(2));
    });
  }

  private static List<io.regatta.core.model.DenseVariable> variables(String cell) {
    List<io.regatta.core.model.DenseVariable> variables = new ArrayList<>();
    Matcher variable = Pattern.compile("(\\w+) \\[([0-9, ]+)]").matcher(cell);
    while (variable.find()) {
      variables.add(new io.regatta.core.model.DenseVariable(variable.group(1),
          Arrays.stream(variable.group(2).split(", ")).map(Integer::valueOf).toList()));
    }
    return variables;
  }

  @Test
  void hashes_of_texts_are_those_of_the_page() {
    assertThat(table("| text | hash |")).hasSizeGreaterThan(2).allSatisfy(row ->
        assertThat(String.format("%016x", Mix64.text(row.get(0)))).isEqualTo(row.get(1)));
  }

  @Test
  void initial_rows_are_those_of_the_page() {
    assertThat(table("| initializer | a | b | seed | table | id | row |")).hasSizeGreaterThan(4).allSatisfy(row -> {
      InitializerSpec spec = new InitializerSpec(InitializerSpec.Kind.valueOf(row.get(0).toUpperCase(Locale.ROOT)),
          Float.parseFloat(row.get(1)), Float.parseFloat(row.get(2)));
      float[] expected = floats(row.get(6));
      float[] made = new float[expected.length];
      spec.fill(Long.parseLong(row.get(3)), row.get(4), Long.parseLong(row.get(5)), made, 0, made.length);
      assertThat(made).containsExactly(expected);
    });
  }

  @Test
  void constants_are_all_that_messages_take() {
    assertThat(line("Field | Constants", "mode")).contains("`RegisterTrainer.Mode`");
    assertThat(told(RegisterTrainer.Mode.values())).containsExactlyInAnyOrderElementsOf(names(Mode.ofServers()));
    assertThat(constants("nan_policy")).containsExactlyElementsOf(names(List.of(NanPolicy.values())))
        .containsExactlyElementsOf(told(RegisterTrainer.NanPolicy.values()));
    assertThat(constants("initializer")).containsExactlyElementsOf(names(List.of(InitializerSpec.Kind.values())))
        .containsExactlyElementsOf(told(SparseTable.Initializer.values()));
    assertThat(constants("learning_rate.kind")).containsExactlyElementsOf(names(List.of(LearningRate.Kind.values())))
        .containsExactlyElementsOf(told(io.regatta.protocol.tensor.LearningRate.Kind.values()));
  }

  @Test
  void an_unknown_constant_or_string_is_refused_with_the_possible_ones() {
    RegisterTrainer job = job().setModeValue(77).build();
    assertThatThrownBy(() -> register(job)).isInstanceOf(InvalidInput.class).hasMessageContaining("mode")
        .hasMessageContaining("HALF_ASYNC").hasMessageNotContaining("MODE_UNSPECIFIED");
    RegisterTrainer none = job().clearMode().build();
    assertThatThrownBy(() -> register(none)).isInstanceOf(InvalidInput.class).hasMessageContaining("MODE_UNSPECIFIED");
    Optimizer curve = optimizer("sgd").toBuilder()
        .setLearningRate(io.regatta.protocol.tensor.LearningRate.newBuilder().setBase(1)).build();
    assertThatThrownBy(() -> register(job().setDenseOptimizer(curve).build())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("learning_rate.kind").hasMessageContaining("KIND_UNSPECIFIED").hasMessageContaining("PIECEWISE");
    RegisterTrainer rule = job().setDenseOptimizer(optimizer("SGD")).build();
    assertThatThrownBy(() -> register(rule)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("SGD").hasMessageContaining("sgd");
  }

  @Test
  void what_the_page_says_of_fields_left_out_holds() {
    assertThatCode(() -> register(job().build())).doesNotThrowAnyException(); // without seed, staleness_bound, life
    assertThat(JobSpecs.ofProto("job", job().build()).model().seed()).isZero();
    assertThatThrownBy(() -> register(job().clearMinBlock().build())).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> register(job().clearNanPolicy().build())).isInstanceOf(InvalidInput.class);
    for (OptimizerType type : OptimizerRegistry.all()) {
      assertThat(JobSpecs.ofProto("job", job().setDenseOptimizer(optimizer(type.name())).build()).model().denseOptimizer().optimizer())
          .isEqualTo(type.defaults());
    }
    Optimizer unknown = optimizer("adam").toBuilder().putHyperparameters("beta3", Hyperparameter.newBuilder().setNumber(1).build())
        .build();
    assertThatThrownBy(() -> register(job().setDenseOptimizer(unknown).build())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("optimizer adam has no hyperparameter 'beta3'; it has [beta1, beta2, epsilon]");
    assertThatCode(() -> register(job().clearDense().clearDenseOptimizer().build())).doesNotThrowAnyException();
    assertThatThrownBy(() -> register(job().clearDenseOptimizer().build())).isInstanceOf(InvalidInput.class);
    assertThatCode(() -> register(job().addSparse(table(TableLife.newBuilder().setTtlS(1))).build()))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> register(job().addSparse(table(TableLife.newBuilder().setStatistics(true))).build()))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("decay");
  }

  @Test
  void defaults_of_a_job_file_are_those_of_the_configuration_page() {
    String configuration = Checkout.text("docs/configuration.md");
    List<List<String>> rows = table("| Field | Left out | Job file's default |");
    for (String key : List.of("min_block", "nan_policy", "seed", "staleness_bound")) {
      assertThat(configuration).containsPattern("\n\\| `" + key + "` \\|[^\n]*\\| `" + value(rows, key) + "` \\|");
    }
  }

  @Test
  void times_of_the_rendezvous_are_its_defaults() {
    RendezvousConfig defaults = RendezvousConfig.defaults();
    assertThat(PAGE).contains("`rendezvous.lease_ms` " + defaults.leaseMs())
        .contains("1 to " + defaults.limits().names() + " characters");
    assertThat(defaults.maxWaitMs()).as("an hour").isEqualTo(3_600_000);
    assertThat(defaults.endedRunSeconds()).as("a day").isEqualTo(86_400);
  }

  private static void register(RegisterTrainer message) {
    JobSpec job = JobSpecs.ofProto("job", message);
    new ParameterShard(0, ShardLimits.defaults(), TestClock.at(0)).register(job, new TrainerId(0, 1), 0);
  }

  private static RegisterTrainer.Builder job() {
    return RegisterTrainer.newBuilder().setMode(RegisterTrainer.Mode.ASYNC).setTrainers(1)
        .setNanPolicy(RegisterTrainer.NanPolicy.FAIL).setShards(1).setMinBlock(1)
        .setDenseOptimizer(optimizer("sgd")).addDense(DenseVariable.newBuilder().setName("w").addShape(4));
  }

  private static Optimizer optimizer(String kind) {
    return Optimizer.newBuilder().setKind(kind)
        .setLearningRate(io.regatta.protocol.tensor.LearningRate.newBuilder()
            .setKind(io.regatta.protocol.tensor.LearningRate.Kind.CONSTANT).setBase(1)).build();
  }

  private static SparseTable table(TableLife.Builder life) {
    return SparseTable.newBuilder().setName("rows").setDim(1).setInitializer(SparseTable.Initializer.CONSTANT)
        .setOptimizer(optimizer("sgd")).setLife(life).build();
  }

  /** Constants of a field, as core spells its own in lower case. */
  private static List<String> constants(String field) {
    return values("Field | Constants", field).stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
  }

  private static List<String> told(Enum<?>[] constants) {
    return Stream.of(constants).map(Enum::name).filter(name -> !name.endsWith("UNSPECIFIED") && !name.equals("UNRECOGNIZED"))
        .map(name -> name.toLowerCase(Locale.ROOT)).toList();
  }

  private static List<String> values(String heading, String field) {
    Matcher quoted = Pattern.compile("`(\\w+)`").matcher(line(heading, field));
    List<String> all = new ArrayList<>();
    while (quoted.find()) {
      all.add(quoted.group(1));
    }
    return all;
  }

  private static String line(String heading, String field) {
    String table = Pattern.quote("| " + heading + " |") + "\n.*?\n\\| `" + Pattern.quote(field) + "` \\|([^\n]*)";
    Matcher row = Pattern.compile(table, Pattern.DOTALL).matcher(PAGE);
    assertThat(row.find()).as("constants of %s", field).isTrue();
    return row.group(1);
  }

  private static List<String> names(Collection<? extends Enum<?>> values) {
    return values.stream().map(value -> value.name().toLowerCase(Locale.ROOT)).toList();
  }

  private static String value(List<List<String>> rows, String field) {
    return rows.stream().filter(row -> row.get(0).split(" ")[0].equals(field)).map(row -> row.get(2)).findFirst()
        .orElseThrow();
  }

  /** The cells of a table, without the quotes of code, under this heading. */
  private static List<List<String>> table(String heading) {
    int from = PAGE.indexOf(heading + "\n");
    assertThat(from).as("table %s", heading).isNotNegative();
    return PAGE.substring(from).lines().takeWhile(line -> line.startsWith("|")).skip(2)
        .map(line -> Stream.of(line.substring(1, line.length() - 1).split("\\|"))
            .map(cell -> cell.strip().replace("`", "")).toList()).toList();
  }

  private static float[] floats(String list) {
    String[] numbers = list.split(", ");
    float[] all = new float[numbers.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = Float.parseFloat(numbers[i]);
    }
    return all;
  }
}
