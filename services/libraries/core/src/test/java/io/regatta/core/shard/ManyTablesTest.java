package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.table.TableCounts;
import io.regatta.core.testing.TestClock;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A job of many tables begins without any of them; each is created when its rows are first asked for. */
class ManyTablesTest {

  private static final int TABLES = 3000;
  private static final TrainerId ME = new TrainerId(0, 1);

  private final LaterTurns turns = new LaterTurns();
  private final JobState job = new JobState(spec(), 0, ShardLimits.defaults(), new BlockPool(), TestClock.at(1), turns,
      new Completions());

  private static JobSpec spec() {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    return new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 64, new ModelSpec(7, List.of(), sgd, IntStream.range(0, TABLES)
        .mapToObj(i -> new SparseTableSpec("t" + i, 1, InitializerSpec.uniform(-1, 1), sgd)).toList()));
  }

  @BeforeEach
  void register() {
    job.register(ME, 0);
  }

  private long created() {
    return IntStream.range(0, TABLES).filter(i -> job.tables.created(i) != null).count();
  }

  private static Push pushTo(int from, int to) {
    return new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0, null, IntStream.range(from, to)
        .mapToObj(i -> new SparseRows("t" + i, new long[] {i}, new float[] {1})).toList());
  }

  @Test
  void a_table_is_created_with_the_first_request_for_its_rows() {
    assertThat(created()).isZero();
    job.pull(new Pull(0, 0, false, List.of(new SparseIds("t5", new long[] {1, 2})), false), new CompletableFuture<>());
    turns.runAll();
    assertThat(created()).isEqualTo(1);
    assertThat(job.tables.created(5).size()).isEqualTo(2);
  }

  @Test
  void a_table_without_rows_is_shown_like_the_others() {
    job.push(pushTo(7, 8), new CompletableFuture<>());
    turns.runAll();
    ParameterShard.JobStatus status = job.status();
    assertThat(status.rows()).hasSize(TABLES).containsEntry("t7", 1L).containsEntry("t8", 0L);
    assertThat(status.counts()).hasSize(TABLES).containsEntry("t8", TableCounts.NONE);
    TreeMap<String, Long> shown = new TreeMap<>();
    TableCursor cursor = new TableCursor(job.tables);
    while (cursor.advance(100, (name, rows, counts) -> {
      shown.put(name, rows);
      return 1;
    }) <= 0) { }
    assertThat(shown).isEqualTo(new TreeMap<>(status.rows()));
    assertThat(job.tables.updates(1).get().tables()).hasSize(TABLES).containsEntry("t8", 1L);
    assertThat(created()).isEqualTo(1);
  }

  @Test
  void a_push_to_many_new_tables_creates_some_in_each_turn() {
    CompletableFuture<PushAck> ack = new CompletableFuture<>();
    job.push(pushTo(0, TABLES), ack);
    long before = created();
    long most = before;
    while (!turns.isEmpty()) {
      turns.remove().run();
      most = Math.max(most, created() - before);
      before = created();
    }
    job.context.completions.drain();
    assertThat(ack).isCompleted();
    assertThat(created()).isEqualTo(TABLES);
    assertThat(most).as("a table costs as much as some rows").isBetween(1L, TABLES / 10L);
  }

  @Test
  void a_row_has_the_same_value_whenever_its_table_is_created() {
    int[] later = {TABLES - 1, 0, 1234};
    for (int t : later) {
      CompletableFuture<Pulled> pulled = new CompletableFuture<>();
      job.pull(new Pull(0, 0, t == 0, List.of(new SparseIds("t" + t, new long[] {3})), false), pulled);
      turns.runAll();
      job.context.completions.drain();
      float[] expected = new float[1];
      InitializerSpec.uniform(-1, 1).fill(7, "t" + t, 3, expected, 0, 1);
      assertThat(pulled.join().sparse().get(0).values()).isEqualTo(expected);
    }
  }

  @Test
  void an_unknown_table_is_refused_and_none_is_created() {
    CompletableFuture<PushAck> refused = new CompletableFuture<>();
    job.push(new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0, null, List.of(new SparseRows("t0", new long[] {1}, new float[1]),
        new SparseRows("other", new long[] {1}, new float[1]))), refused);
    turns.runAll();
    job.context.completions.drain();
    assertThatThrownBy(refused::join).cause().isInstanceOf(InvalidInput.class)
        .hasMessageContaining("unknown sparse table 'other'");
    assertThat(created()).isZero();
  }
}
