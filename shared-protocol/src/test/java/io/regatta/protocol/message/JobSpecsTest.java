package io.regatta.protocol.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.ElementwiseOptimizer;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerRegistry;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.OptimizerType;
import io.regatta.protocol.tensor.RegisterTrainer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class JobSpecsTest {

  @Property
  void a_job_comes_back_as_it_was(@ForAll("jobs") JobSpec job) throws Exception {
    RegisterTrainer message = RegisterTrainer.parseFrom(JobSpecs.toProto(job).toByteArray());
    JobSpec back = JobSpecs.ofProto(job.job(), message);
    assertThat(back).isEqualTo(job);
    assertThat(back.model().digest()).isEqualTo(job.model().digest());
  }

  @Test
  void a_field_that_makes_no_sense_is_named() {
    RegisterTrainer good = JobSpecs.toProto(job(new Random(1)));
    assertThatThrownBy(() -> JobSpecs.ofProto("j", good.toBuilder().setModeValue(77).build()))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("mode is UNRECOGNIZED").hasMessageContaining("HALF_ASYNC");
    assertThatThrownBy(() -> JobSpecs.ofProto("j", good.toBuilder().clearDenseOptimizer().build()))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("learning_rate.kind is KIND_UNSPECIFIED");
    RegisterTrainer uneven = good.toBuilder().setShards(5).setShardsPerServer(2).setSparseShards(1).build();
    assertThatThrownBy(() -> JobSpecs.ofProto("j", uneven)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("1 of each server's 2 shards").hasMessageContaining("of 5 in all");
    assertThatThrownBy(() -> JobSpecs.ofProto("j", RegisterTrainer.getDefaultInstance()))
        .isInstanceOf(InvalidInput.class);
  }

  @Provide
  Arbitrary<JobSpec> jobs() {
    return Arbitraries.randomValue(JobSpecsTest::job);
  }

  private static JobSpec job(Random r) {
    List<DenseVariable> dense = new ArrayList<>();
    for (int i = r.nextInt(4); i > 0; i--) {
      dense.add(new DenseVariable("größe_" + i, r.ints(r.nextInt(4), 1, 50).boxed().toList()));
    }
    List<SparseTableSpec> sparse = new ArrayList<>();
    for (int i = r.nextInt(4); i > 0; i--) {
      float a = r.nextFloat() - 1;
      sparse.add(new SparseTableSpec("table/" + i, 1 + r.nextInt(64),
          new InitializerSpec(any(r, InitializerSpec.Kind.values()), a, 1 + a), optimizer(r),
          r.nextBoolean() ? TableLife.NONE : life(r)));
    }
    return new JobSpec("job " + r.nextInt(), any(r, Mode.ofServers().toArray(Mode[]::new)), 1 + r.nextInt(9), r.nextInt(9),
        any(r, NanPolicy.values()), sharding(r), 1 + r.nextInt(10_000),
        new ModelSpec(r.nextLong(), dense, optimizer(r), sparse));
  }

  private static Sharding sharding(Random r) {
    return r.nextBoolean() ? Sharding.common(1 + r.nextInt(9)) : new Sharding(3 * (1 + r.nextInt(3)), 3, 1 + r.nextInt(2));
  }

  private static TableLife life(Random r) {
    return new TableLife(true, 0.5f + r.nextFloat() / 2, r.nextFloat(), r.nextFloat(), r.nextInt(2), 0.5f, r.nextFloat(),
        r.nextInt(40), r.nextInt(1000));
  }

  private static OptimizerSpec optimizer(Random r) {
    OptimizerType type = any(r, elementwise());
    Map<String, Object> values = new LinkedHashMap<>();
    type.parameters().forEach(p -> values.put(p.key(), p.isFlag() ? (Object) r.nextBoolean() : (Object) (0.01f + 0.9f * r.nextFloat())));
    return new OptimizerSpec(type.of(values), rate(r), r.nextFloat(), r.nextFloat(), r.nextFloat());
  }

  private static OptimizerType[] elementwise() {
    return OptimizerRegistry.all().stream().filter(t -> t.defaults() instanceof ElementwiseOptimizer).toArray(OptimizerType[]::new);
  }

  private static LearningRate rate(Random r) {
    return new LearningRate(any(r, LearningRate.Kind.values()), 0.1 + r.nextDouble(), 1 + r.nextLong(1L << 40),
        0.1 + r.nextDouble(), r.nextBoolean(), List.of(100L, 200L + r.nextInt(9)),
        List.of(r.nextDouble(), r.nextDouble(), r.nextDouble()), 1 + r.nextInt(512), 0.05, 1 + r.nextInt(50),
        r.nextDouble());
  }

  private static <T> T any(Random r, T[] values) {
    return values[r.nextInt(values.length)];
  }
}
