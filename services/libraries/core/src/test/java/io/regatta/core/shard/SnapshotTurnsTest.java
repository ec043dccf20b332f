package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.table.RowWalk;
import io.regatta.core.table.TableSnapshot;
import io.regatta.core.table.TableSnapshot.Scope;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/**
 * Tests of snapshots of many tables, which are taken over several time slices, while requests are served between these.
 * The oracle is a shard that does everything in one time slice, and gets the same requests in the same order, but none
 * after the moment.
 */
class SnapshotTurnsTest {

  private static final int TABLES = 1500;
  private static final int DIM = 2;
  private static final TrainerId ME = new TrainerId(0, 1);
  private static final TableLife TRACKED = TableLife.counted()
      .with(life -> life.decay(0.5f).admitCount(1).shrinkScore(0.2f).shrinkUnseenDays(3));

  private static ParameterShard shard(Mode mode, boolean tracked, LaterTurns later) {
    OptimizerSpec adagrad = mode == Mode.GEO ? OptimizerSpec.sgd(1) : OptimizerSpec.of("adagrad", 0.1);
    ModelSpec model = new ModelSpec(5, List.of(), adagrad, IntStream.range(0, TABLES).mapToObj(i -> new SparseTableSpec("t" + i, DIM,
        InitializerSpec.uniform(-1, 1), adagrad, tracked && i % 2 == 0 ? TRACKED : TableLife.NONE)).toList());
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1), later);
    shard.register(new JobSpec("job", mode, 1, 0, NanPolicy.FAIL, 1, 64, model), ME, 0);
    return shard;
  }

  /** The requests of one trainer, drawn by chance and sent to several shards. */
  private static final class Requests {
    private final Random random;
    private final Mode mode;
    private final boolean tracked;
    private long sequence;
    private long shrinks;
    private boolean shrinking;
    private final List<Answer<?>> answers = new ArrayList<>();

    Requests(long seed, Mode mode, boolean tracked) {
      random = new Random(seed);
      this.mode = mode;
      this.tracked = tracked;
    }

    /** Requires that no request so far has been refused. */
    void check() {
      assertThat(answers).allMatch(answer -> answer.error == null);
    }

    void next(ParameterShard... shards) {
      switch (random.nextInt(tracked && !shrinking ? 4 : 3)) {
        case 0 -> pull(shards);
        case 3 -> {
          long number = ++shrinks;
          boolean endOfDay = random.nextBoolean();
          shrinking = true; // the next one is asked for behind the answer to this one
          for (ParameterShard shard : shards) {
            CompletionStage<Shrunk> shrunk = shard.shrink("job", ME, number, endOfDay);
            answers.add(Answer.to(shrunk));
            shrunk.whenComplete((value, error) -> shrinking = false);
          }
        }
        default -> push(shards);
      }
    }

    private int[] someTables() {
      return random.ints(1 + random.nextInt(40), 0, TABLES).distinct().toArray();
    }

    private long[] someIds() {
      return random.longs(1 + random.nextInt(5), 0, 20).distinct().toArray();
    }

    void push(ParameterShard... shards) {
      push(someTables(), shards);
    }

    void push(int[] tables, ParameterShard... shards) {
      List<SparseRows> rows = new ArrayList<>();
      for (int t : tables) {
        long[] ids = someIds();
        boolean counts = tracked && t % 2 == 0;
        float[] values = new float[ids.length * (DIM + (counts ? TableLife.COUNTS : 0))];
        for (int i = 0; i < values.length; i++) {
          values[i] = random.nextFloat();
        }
        rows.add(new SparseRows("t" + t, ids, values, counts ? TableLife.COUNTS : 0));
      }
      Push push = new Push(List.of(new Contributor(0, 1, ++sequence, 1)), sequence - 1, 0, null, rows);
      for (ParameterShard shard : shards) {
        answers.add(Answer.to(shard.push("job", push)));
      }
    }

    private void pull(ParameterShard... shards) {
      List<SparseIds> ids = new ArrayList<>();
      for (int t : someTables()) {
        ids.add(new SparseIds("t" + t, someIds()));
      }
      for (ParameterShard shard : shards) {
        answers.add(Answer.to(shard.pull("job", new Pull(0, mode == Mode.SYNC ? sequence : 0, false, ids, false))));
      }
    }
  }

  private static Answer<JobSnapshot> ask(ParameterShard shard, long step, Scope scope) {
    return Answer.to(shard.snapshot("job", step, scope, 1 << 30));
  }

  /** Whole rows of all tables, by table and id. */
  private static Map<String, Map<Long, String>> fetch(JobSnapshot snapshot) {
    Map<String, Map<Long, String>> all = new TreeMap<>();
    for (TableSnapshot t : snapshot.tables()) {
      RowWalk walk = t.rows();
      long[] ids = new long[walk.leastRoom()];
      float[] floats = new float[ids.length * walk.width()];
      for (int n = walk.next(ids, floats); n > 0; n = walk.next(ids, floats)) {
        for (int i = 0; i < n; i++) {
          int[] bits = IntStream.range(i * walk.width(), (i + 1) * walk.width())
              .map(k -> Float.floatToRawIntBits(floats[k])).toArray();
          all.computeIfAbsent(walk.table(), name -> new TreeMap<>()).put(ids[i], Arrays.toString(bits));
        }
      }
    }
    return all;
  }

  @Property(tries = 30)
  void a_snapshot_holds_what_came_before_its_moment_whatever_comes_while_its_tables_are_taken(@ForAll long seed,
      @ForAll Mode mode, @ForAll boolean counted) {
    boolean tracked = counted && mode != Mode.GEO;
    LaterTurns turns = new LaterTurns();
    ParameterShard shard = shard(mode, tracked, turns);
    ParameterShard oracle = shard(mode, tracked, null);
    Requests requests = new Requests(seed, mode, tracked);
    requests.push(IntStream.range(0, TABLES / 3 * 2).toArray(), shard, oracle); // the others are created later, if at all
    turns.runAll();
    for (int i = 0; i < 20; i++) {
      requests.next(shard, oracle);
      turns.runAll();
    }
    Answer<JobSnapshot> taken = ask(shard, requests.sequence, Scope.ALL);
    assertThat(taken.value).as("all tables in one turn").isNull();
    assertThat(shard.waits("job")).anyMatch(w -> w.sentence(1).contains("snapshot"));
    for (int between = 0; taken.value == null; between++) {
      requests.next(shard);
      turns.remove().run();
      assertThat(between).isLessThan(1000);
    }
    JobSnapshot expected = ask(oracle, taken.value.step(), Scope.ALL).value;
    requests.next(shard);
    turns.runAll();
    requests.check();
    assertThat(fetch(taken.value)).isEqualTo(fetch(expected));
    assertThat(taken.value.version()).isEqualTo(expected.version());
    assertThat(taken.value.trainers()).isEqualTo(expected.trainers());
    taken.value.end(true);
  }

  /** Base and deltas, put one on the other, are what was there at the last one; what a failed delta was to hold is not lost. */
  @Property(tries = 15)
  void deltas_hold_what_changed_between_the_moments(@ForAll long seed, @ForAll boolean tracked) {
    LaterTurns turns = new LaterTurns();
    ParameterShard shard = shard(Mode.ASYNC, tracked, turns);
    ParameterShard oracle = shard(Mode.ASYNC, tracked, null);
    Requests requests = new Requests(seed, Mode.ASYNC, tracked);
    requests.push(IntStream.range(0, TABLES / 3 * 2).toArray(), shard, oracle);
    turns.runAll();
    Map<String, Map<Long, String>> merged = new TreeMap<>();
    for (int d = 0; d < 5; d++) {
      Answer<JobSnapshot> taken = ask(shard, 0, d == 0 ? Scope.BASE : Scope.DELTA);
      JobSnapshot expected = ask(oracle, 0, Scope.ALL).value;
      while (taken.value == null) {
        assertThat(taken.error).isNull();
        requests.push(shard, oracle); // after its moment here; the oracle's walk keeps what it changes as well
        turns.remove().run();
      }
      Map<String, Map<Long, String>> changed = fetch(taken.value);
      boolean saved = d == 0 || requests.random.nextBoolean();
      if (saved) {
        taken.value.tables().forEach(t -> Arrays.stream(t.removed(), 0, t.removedCount())
            .forEach(id -> merged.getOrDefault(t.rows().table(), new TreeMap<>()).remove(id)));
        changed.forEach((table, rows) -> merged.computeIfAbsent(table, name -> new TreeMap<>()).putAll(rows));
        merged.values().removeIf(Map::isEmpty);
        assertThat(merged).isEqualTo(fetch(expected));
      }
      taken.value.end(saved);
      expected.end(true);
      turns.runAll();
      requests.next(shard, oracle);
      turns.runAll();
      requests.check();
    }
  }

  @Test
  void the_next_snapshot_waits_for_the_beginning_of_the_one_before() {
    LaterTurns turns = new LaterTurns();
    ParameterShard shard = shard(Mode.ASYNC, false, turns);
    Answer<JobSnapshot> first = ask(shard, 0, Scope.ALL);
    assertThat(ask(shard, 0, Scope.ALL).error).isInstanceOf(Overloaded.class);
    turns.runAll();
    first.value.end(true);
    Answer<JobSnapshot> second = ask(shard, 0, Scope.ALL);
    turns.runAll();
    assertThat(second.value).isNotNull();
  }

  @Test
  void a_job_that_ends_while_the_tables_are_taken_gets_no_snapshot_and_leaves_nothing_behind() {
    LaterTurns turns = new LaterTurns();
    ParameterShard shard = shard(Mode.ASYNC, false, turns);
    new Requests(1, Mode.ASYNC, false).push(IntStream.range(0, TABLES).toArray(), shard);
    turns.runAll();
    Answer<JobSnapshot> taken = ask(shard, 0, Scope.BASE);
    shard.lost("job", ME);
    assertThat(taken.error).isInstanceOf(Cancelled.class);
    turns.runAll();
    assertThat(shard.jobs()).isEmpty();
  }

  @Test
  void a_base_that_was_not_saved_is_none_for_a_delta() {
    LaterTurns turns = new LaterTurns();
    ParameterShard shard = shard(Mode.ASYNC, false, turns);
    Requests requests = new Requests(1, Mode.ASYNC, false);
    requests.push(IntStream.range(0, TABLES).toArray(), shard);
    turns.runAll();
    assertThat(ask(shard, 0, Scope.DELTA).error).isInstanceOf(InvalidInput.class);
    Answer<JobSnapshot> base = ask(shard, 0, Scope.BASE);
    turns.runAll();
    base.value.end(false); // its file could not be written: there is no base
    assertThat(ask(shard, 0, Scope.DELTA).error).isInstanceOf(InvalidInput.class);
  }
}
