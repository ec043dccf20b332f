package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the places in a push where an id may occur twice, or a value may be no number. */
class RowChecksTest {

  private static final int DIM = 3;
  private static final int ROWS = 3000;

  private final ParameterShard shard = shard();

  private static ParameterShard shard() {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ModelSpec model = new ModelSpec(1, List.of(), sgd, List.of(
        new SparseTableSpec("t", DIM, InitializerSpec.zeros(), sgd),
        new SparseTableSpec("counted", 1, InitializerSpec.zeros(), sgd, TableLife.counted())));
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    shard.register(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 1, model), new TrainerId(0, 1), 0);
    return shard;
  }

  private Answer<PushAck> push(SparseRows rows, Contributor... from) {
    return Answer.to(shard.push("job",
        new Push(from.length == 0 ? List.of(new Contributor(0, 1, 1, 1)) : List.of(from), 0, 0, null,
        List.of(rows))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"5 5", "9 9 5", "9 5 5", "5 9 9", "5 9 5", "9 5 9"})
  void anIdThatIsThereTwiceIsFound(String text) {
    long[] ids = Arrays.stream(text.split(" ")).mapToLong(Long::parseLong).toArray();
    assertThat(push(new SparseRows("t", ids, new float[ids.length * DIM])).error).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("of table 't' twice", "at shard 0 of job job");
    assertThat(shard.status("job").rows().get("t")).isZero();
  }

  @ParameterizedTest
  @CsvSource({"0,0", "0,2", "1,0", "255,2", "256,0", "1500,1", "2999,0", "2999,2"})
  void aValueThatIsNoNumberIsFoundWhereverItIs(int row, int column) {
    long[] ids = LongStream.range(100, 100 + ROWS).toArray();
    float[] values = new float[ROWS * DIM];
    values[row * DIM + column] = Float.NEGATIVE_INFINITY;
    assertThat(push(new SparseRows("t", ids, values)).error).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("row of id " + (100 + row) + " of table 't' holds -Infinity");
    assertThat(shard.status("job").rows().get("t")).isZero();
  }

  @Test
  void contributorsAreDifferent() {
    Contributor me = new Contributor(0, 1, 1, 1);
    assertThat(push(new SparseRows("t", new long[0], new float[0]), me, me).error).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("ascending rank order");
  }

  @Test
  void noRowsNeedNoCounts() {
    assertThat(push(new SparseRows("counted", new long[0], new float[0])).error).isNull();
    assertThat(push(new SparseRows("counted", new long[] {1}, new float[3]), new Contributor(0, 1, 2, 1)).error)
        .isInstanceOf(InvalidInput.class).hasMessageContaining("are counts");
  }
}
