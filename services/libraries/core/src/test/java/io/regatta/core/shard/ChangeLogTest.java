package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
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
import io.regatta.core.shard.internal.geo.ChangeLog;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.testing.TestClock;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Changes of rows against plain sets, one for each reader; and what the log costs on a shard with many trainers. */
class ChangeLogTest {

  private static final String[] TABLES = {"a", "b", "c"};

  private static Map<String, TreeSet<Long>> collect(ChangeLog.Reading reading, long floats) {
    while (reading.advance(floats) < 0) { }
    Map<String, TreeSet<Long>> found = new TreeMap<>();
    for (SparseIds ids : reading.found()) {
      TreeSet<Long> set = new TreeSet<>(Arrays.stream(ids.ids()).boxed().toList());
      assertThat(set).as("ids without repetitions").hasSize(ids.ids().length);
      assertThat(found.put(ids.table(), set)).as("tables without repetitions").isNull();
    }
    return found;
  }

  @Property(tries = 100)
  void eachReaderIsToldWhatHasChangedSinceItAskedLast(@ForAll @IntRange(min = 1, max = 4) int readers,
      @ForAll @IntRange(min = 1, max = 2000) int range, @ForAll Random random) {
    ChangeLog log = new ChangeLog();
    long[] told = new long[readers];
    List<Map<String, TreeSet<Long>>> expected = new ArrayList<>();
    for (int r = 0; r < readers; r++) {
      expected.add(new TreeMap<>());
    }
    for (int i = 0; i < 60; i++) {
      long[] ids = random.longs(random.nextInt(200), 0, range).distinct().toArray();
      String table = TABLES[random.nextInt(TABLES.length)];
      int from = ids.length / 5;
      log.add(table, ids, from, ids.length);
      for (int k = from; k < ids.length; k++) {
        long id = ids[k];
        expected.forEach(e -> e.computeIfAbsent(table, t -> new TreeSet<>()).add(id));
      }
      int reader = random.nextInt(readers);
      if (random.nextInt(3) == 0) {
        ChangeLog.Reading reading = log.after(told[reader]);
        assertThat(collect(reading, 1 + random.nextInt(10_000))).isEqualTo(expected.get(reader));
        expected.get(reader).clear();
        told[reader] = reading.version();
        log.forget(Arrays.stream(told).min().orElseThrow());
      }
    }
    assertThat(log.size()).isLessThanOrEqualTo((long) TABLES.length * range);
  }

  @Test
  void rowsThatChangeWhileTheyAreCollectedAreNotMissing() {
    ChangeLog log = new ChangeLog();
    long[] ids = LongStream.range(0, 50_000).toArray();
    log.add("a", ids, 0, ids.length);
    ChangeLog.Reading reading = log.after(0);
    int again = 0;
    while (reading.advance(5_000) < 0) {
      log.add("a", ids, again, again + 100); // to the end of the log
      again += 100;
    }
    assertThat(again).isGreaterThan(1_000);
    assertThat(reading.found()).hasSize(1);
    assertThat(Arrays.stream(reading.found().get(0).ids()).sorted().toArray()).isEqualTo(ids);
    assertThat(collect(log.after(reading.version()), 1).get("a")).hasSize(again);
  }

  @Test
  void whatAllHaveBeenToldIsForgottenWithLaterChanges() {
    ChangeLog log = new ChangeLog();
    long[] ids = LongStream.range(0, 100_000).toArray();
    log.add("a", ids, 0, ids.length);
    log.forget(log.version());
    long[] later = LongStream.range(200_000, 260_000).toArray();
    log.add("a", later, 0, later.length);
    assertThat(log.size()).isLessThan(65_000);
    assertThat(collect(log.after(1), 1 << 20).get("a")).hasSize(later.length);
    log.forget(log.version());
    assertThat(log.after(log.version()).found()).isEmpty();
    assertThat(log.size()).as("a table of which nothing is to be told").isZero();
  }

  /** Two for each: fewer, and a log that was long would stay so; more, and a push would pay for others. */
  @Test
  void eachChangeForgetsTwoThatAllHaveBeenTold() {
    ChangeLog log = new ChangeLog();
    log.add("a", LongStream.range(0, 100_000).toArray(), 0, 100_000);
    log.add("a", LongStream.range(200_000, 201_000).toArray(), 0, 1_000);
    assertThat(log.size()).as("nobody has been told").isEqualTo(101_000);
    log.forget(1);
    log.add("a", LongStream.range(300_000, 301_000).toArray(), 0, 1_000);
    assertThat(log.size()).isEqualTo(100_000);
    assertThat(collect(log.after(1), 1 << 20).get("a")).hasSize(2_000);
  }

  @Test
  void aReadingCostsWhatItCollects() {
    ChangeLog log = new ChangeLog();
    log.add("a", LongStream.range(0, 10_000).toArray(), 0, 10_000);
    log.add("b", LongStream.range(0, 10).toArray(), 0, 10);
    int parts = ChangeLog.PARTS * ChangeLog.Reading.PART_FLOATS;
    int ids = ChangeLog.Reading.ID_FLOATS + ChangeLog.Reading.COPIED_FLOATS;
    assertThat(log.after(0).advance(1_000_000)).isEqualTo(1_000_000 - 2 * parts - 10_010 * ids);
    assertThat(log.after(1).advance(1_000_000)).as("of what has changed since").isEqualTo(1_000_000 - parts - 10 * ids);
    assertThat(log.after(2).advance(1_000_000)).isEqualTo(1_000_000);
    ChangeLog.Reading uncopied = log.after(1);
    assertThat(uncopied.advance(parts + 10 * ChangeLog.Reading.ID_FLOATS)).isEqualTo(-1);
    assertThat(uncopied.found()).as("nothing is done without a budget").isEmpty();
    assertThat(uncopied.advance(1)).as("over, though it took more").isZero();
    assertThat(uncopied.found()).hasSize(1);
  }

  /** Ids are spread over the parts of a log, so that none becomes too long for a turn. */
  @Test
  void aReadingTakesManySteps_whenEachMayCostLittle() {
    ChangeLog log = new ChangeLog();
    log.add("a", LongStream.range(0, 50_000).toArray(), 0, 50_000);
    ChangeLog.Reading reading = log.after(0);
    int steps = 1;
    while (reading.advance(1) < 0) {
      steps++;
    }
    assertThat(steps).isGreaterThanOrEqualTo(ChangeLog.PARTS);
    int parts = 0;
    ChangeLog.Reading again = log.after(0);
    while (again.advance(2_000) < 0) {
      parts++;
    }
    assertThat(parts).as("195 ids in a part, 3,200 floats").isGreaterThan(200);
  }

  @Test
  void aLogThatIsReadByAllStaysAsLongAsWhatTheyHaveToBeTold() {
    ChangeLog log = new ChangeLog();
    for (int push = 0; push < 200; push++) {
      long[] ids = new Random(push).longs(1_000).toArray();
      log.add("a", ids, 0, ids.length);
      log.forget(log.version());
    }
    assertThat(log.size()).isLessThan(5_000);
  }

  private static ParameterShard shard(int trainers, LaterTurns turns) {
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1), turns);
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    JobSpec job = new JobSpec("job", Mode.GEO, trainers, 0, NanPolicy.FAIL, 1, 64, new ModelSpec(7, List.of(), sgd,
        List.of(new SparseTableSpec("a", 1, InitializerSpec.zeros(), sgd))));
    for (int rank = 0; rank < trainers; rank++) {
      shard.register(job, new TrainerId(rank, 1), 0);
    }
    return shard;
  }

  private static void push(ParameterShard shard, LaterTurns turns, long sequence, long[] ids) {
    Answer<PushAck> answer =
        Answer.to(shard.push("job", new Push(List.of(new Contributor(0, 1, sequence, 1)), sequence - 1, 0, null,
        List.of(new SparseRows("a", ids, new float[ids.length])))));
    turns.runAll();
    assertThat(answer.error).isNull();
  }

  private static Answer<Pulled> changed(ParameterShard shard, int rank) {
    return Answer.to(shard.pull("job", new Pull(rank, 0, false, List.of(), true)));
  }

  private static long pushedBytes(int trainers) {
    LaterTurns turns = new LaterTurns();
    ParameterShard shard = shard(trainers, turns);
    long[] ids = LongStream.range(0, 20_000).toArray();
    push(shard, turns, 1, ids);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    push(shard, turns, 2, LongStream.range(30_000, 50_000).toArray());
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  /** A set of changed ids for each trainer took 168 MB for this push. */
  @Test
  void aPushAllocatesTheSame_howeverManyTrainersThereAre() {
    pushedBytes(1); // loads classes
    assertThat(pushedBytes(400)).isLessThan(pushedBytes(1) + 1_000_000);
  }

  @Test
  void aChangeCountsInTheBudgetOfATurn() {
    LaterTurns turns = new LaterTurns();
    ParameterShard shard = shard(1, turns);
    shard.push("job", new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0, null,
        List.of(new SparseRows("a", LongStream.range(0, 50_000).toArray(), new float[50_000]))));
    long floats = 50_000L * (TimeSlices.ROW_FLOATS + ChangeLog.NOTED_FLOATS);
    assertThat(turns.runAll()).isBetween((int) (0.9 * floats / TimeSlices.FLOATS), (int) (1.5 * floats / TimeSlices.FLOATS));
  }

  /** A reader that fails to get an answer gets the same rows when it asks again. */
  @Test
  void changesAreForgottenWhenTheyHaveBeenTold_notWhenTheirAnswerBegins() {
    LaterTurns turns = new LaterTurns();
    ParameterShard shard = shard(2, turns);
    push(shard, turns, 1, LongStream.range(0, 20_000).toArray());
    Answer<Pulled> gone = changed(shard, 1);
    assertThat(gone.value).as("takes turns").isNull();
    shard.withdraw("job", gone.request);
    Answer<Pulled> again = changed(shard, 1);
    turns.runAll();
    assertThat(again.value.sparse().get(0).ids()).hasSize(20_000);
    Answer<Pulled> nothing = changed(shard, 1);
    assertThat(nothing.value.sparse()).isEmpty();
  }

  @Test
  void aNewcomerIsToldOfLaterChangesOnly() {
    LaterTurns turns = new LaterTurns();
    ParameterShard shard = shard(2, turns);
    push(shard, turns, 1, new long[] {1, 2});
    shard.leave("job", new TrainerId(1, 1));
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    shard.register(new JobSpec("job", Mode.GEO, 2, 0, NanPolicy.FAIL, 1, 64, new ModelSpec(7, List.of(), sgd,
        List.of(new SparseTableSpec("a", 1, InitializerSpec.zeros(), sgd)))), new TrainerId(1, 2), 0);
    push(shard, turns, 2, new long[] {2, 3});
    assertThat(changed(shard, 1).value.sparse().get(0).ids()).containsExactlyInAnyOrder(2, 3);
    assertThat(changed(shard, 0).value.sparse().get(0).ids()).containsExactlyInAnyOrder(1, 2, 3);
  }

  /** 64 for each of 256 parts, 16 for an id that is found and 2 for its copy. */
  @Test
  void readingCostsWhatItsPartsAndIdsCost() {
    ChangeLog log = new ChangeLog();
    log.add("a", LongStream.range(0, 1000).toArray(), 0, 1000);
    assertThat(log.after(0).advance(1_000_000)).isEqualTo(1_000_000 - 256 * 64 - 1000 * 18);
    ChangeLog.Reading nothingLeft = log.after(0);
    assertThat(nothingLeft.advance(0)).isEqualTo(-1);
    assertThat(nothingLeft.found()).isEmpty();
  }
}
