package io.regatta.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.JobRestore;
import io.regatta.core.shard.JobSnapshot;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.table.TableSnapshot;
import io.regatta.core.testing.TestClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A shard's own way to a file and back, without a network. */
class ShardFilesTest {

  private static final TrainerId TRAINER = new TrainerId(0, 1);
  private static final ShardTurns HERE = new ShardTurns() {
    @Override
    public <T> T ask(Supplier<T> question) {
      return question.get();
    }
  };

  @TempDir
  Path dir;

  private static ParameterShard shard(int index, int shards) {
    return shard(index, shards, TableLife.NONE);
  }

  private static ParameterShard shard(int index, int shards, TableLife life) {
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("w", List.of(30))), OptimizerSpec.sgd(1),
        List.of(new SparseTableSpec("emb", 2, InitializerSpec.uniform(8, 9), OptimizerSpec.sgd(1), life)));
    ParameterShard shard = new ParameterShard(index, ShardLimits.defaults(), TestClock.at(1));
    shard.register(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, shards, 8, model), TRAINER, 0);
    return shard;
  }

  private static float[] row(ParameterShard shard, long id) {
    Pull pull = new Pull(0, 0, false, List.of(new SparseIds("emb", new long[] {id})), false, true);
    return answer(shard.pull("job", pull)).sparse().get(0).values();
  }

  private static JobSnapshot snapshot(ParameterShard shard) {
    return answer(shard.snapshot("job", 0, TableSnapshot.Scope.ALL, 1 << 20));
  }

  /** Returns the answer, which this shard gives within the call. */
  private static <T> T answer(CompletionStage<T> request) {
    assertThat(request).isCompleted();
    return request.toCompletableFuture().join();
  }

  @Test
  void a_full_disk_fails_the_snapshot_and_nothing_else() throws IOException {
    ParameterShard shard = shard(0, 1);
    shard.initialize("job", TRAINER, DenseMemory.of(new float[30]));
    Path file = dir.resolve(ShardFileWriter.name(0, 1));
    AtomicBoolean full = new AtomicBoolean(true);
    ShardTurns disk = new ShardTurns() { // fails while the file is half written
      @Override
      public <T> T ask(Supplier<T> question) throws IOException {
        T answer = question.get();
        if (full.compareAndSet(true, false)) {
          throw new IOException("No space left on device");
        }
        return answer;
      }
    };
    assertThatThrownBy(() -> ShardSaver.save(snapshot(shard), confined(dir), disk)).isInstanceOf(IOException.class)
        .hasMessageContaining("No space left");
    assertThat(file).doesNotExist();
    FileEntry next = ShardSaver.save(snapshot(shard), confined(dir), HERE); // the shard is as it was
    assertThat(next.damage(confined(dir))).isNull();
  }

  /** Left out, it would begin with random values, and no line would say so. */
  @Test
  void a_table_of_paddle_behind_a_link_is_refused() throws IOException {
    Path elsewhere = Files.createDirectories(dir.resolve("elsewhere/emb_txt"));
    Files.writeString(elsewhere.resolve("emb.block0.txt"), "1\t0.5,1,0.1,\n");
    Path tables = Files.createDirectory(dir.resolve("tables"));
    Path link = Files.createSymbolicLink(tables.resolve("emb_txt"), elsewhere);
    assertThat(PaddleTables.isThere(tables)).isTrue();
    assertThatThrownBy(() -> restored(tables, false)).isInstanceOf(InvalidInput.class).hasMessageContaining(link + " is a symbolic link");
  }

  /** Both forms of a line, three blocks of a former cluster, two shards now; every id lies where it belongs. */
  @Test
  void tables_that_paddle_saved_are_read_whatever_the_number_of_servers_was() throws IOException {
    Path tables = Files.createDirectories(dir.resolve("emb_txt"));
    for (int block = 0; block < 3; block++) {
      StringBuilder text = new StringBuilder();
      for (long id = block; id < 300; id += 3) {
        text.append(id).append(block == 1 ? "\t5\t0\t1\t" : "\t").append(id).append(".5,").append(-id).append(",0.1,\n");
      }
      text.append(block == 1 ? "999\t1\t0\t0\t0,0,0,\n" : "");
      Files.writeString(tables.resolve("emb.block" + block + ".txt"), text);
      Files.writeString(tables.resolve("emb.block" + block + ".meta"), "param=emb\nshard_id=" + block
          + "\nrow_names=Param,Moment\nrow_dims=2,1\ncount=" + text.toString().lines().count() + "\n");
    }
    assertThat(PaddleTables.isThere(dir)).isTrue();
    for (int s = 0; s < 2; s++) {
      ParameterShard shard = shard(s, 2);
      assertThat(ShardRestorer.restore(shard.restore("job"), confined(dir), false, ResumePoint.NONE, HERE)).isFalse();
      shard.initialize("job", TRAINER, DenseMemory.of(new float[shard.status("job").denseSize()]));
      int index = s;
      long own = LongStream.range(0, 300).filter(id -> SparsePartition.shardOf(id, 2) == index).count();
      assertThat(shard.status("job").rows().get("emb")).isEqualTo(own);
      for (long id = 0; id < 300; id++) {
        if (SparsePartition.shardOf(id, 2) == s) {
          assertThat(row(shard, id)).containsExactly(id + 0.5f, -id);
        }
      }
    }
    Path last = tables.resolve("emb.block2.txt");
    Files.writeString(last, Files.readString(last).replaceFirst("8\\t8.5,-8,0.1,", "8\t8.5"));
    assertThatThrownBy(() -> restored(dir, false))
        .isInstanceOf(InvalidInput.class).hasMessageContaining(last + ", line 3").hasMessageContaining("rows of 2");
    Files.writeString(last, "8\t8.5,-8,0.1,\n");
    assertThatThrownBy(() -> restored(dir, false))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("was cut");
    Path meta = Files.writeString(tables.resolve("emb.block2.meta"), "param=emb\ncount=many\n");
    assertThatThrownBy(() -> restored(dir, false))
        .isInstanceOf(InvalidInput.class).hasMessageContaining(meta + ", line 2: expected count=")
        .hasMessageContaining("'count=many'");
  }

  /** A run that resumes from a snapshot numbers its shrinks from 1 again, and repeats none that came before it. */
  @Test
  void shrinks_go_on_behind_those_that_are_inside() throws IOException {
    TableLife life = TableLife.NONE.withShrinkUnseenDays(1);
    ParameterShard shard = shard(0, 1, life);
    shard.initialize("job", TRAINER, DenseMemory.of(new float[30]));
    shard.pull("job", new Pull(0, 0, false, List.of(new SparseIds("emb", new long[] {1, 2})), false));
    assertThat(shrink(shard, 1)).isEqualTo(new Shrunk(0, 0, 0, 2));
    SnapshotDirectory out = SnapshotDirectory.of(dir.resolve("s")).begin();
    JobSnapshot snapshot = snapshot(shard);
    FileEntry file = ShardSaver.save(snapshot, confined(out.part()), HERE);
    out.publish(new Manifest("job", "a1", "async", SnapshotKind.FULL, 0, -1, 0, false, "", "",
        ModelLayout.of(snapshot.spec()), List.of(), List.of(file)).toJson(), true);
    ParameterShard next = shard(0, 1, life);
    ShardRestorer.restore(next.restore("job"), confined(dir.resolve("s")), true, ResumePoint.NONE, HERE);
    assertThat(shrink(next, 1)).isEqualTo(new Shrunk(0, 2, 0, 0));
    assertThat(snapshot(next).shrinks()).isEqualTo(2);
    ParameterShard anew = shard(0, 1, life); // another run with these rows: its days begin at 1
    ShardRestorer.restore(anew.restore("job"), confined(dir.resolve("s")), false, ResumePoint.NONE, HERE);
    assertThat(shrink(anew, 1)).isEqualTo(new Shrunk(0, 2, 0, 0));
  }

  /** A restore of a running job, as by a trainer that was restarted while the others train. */
  @Test
  void a_job_that_has_begun_is_not_begun_again_and_not_harmed() throws IOException {
    ParameterShard first = shard(0, 1);
    first.initialize("job", TRAINER, DenseMemory.of(new float[30]));
    SnapshotDirectory out = SnapshotDirectory.of(dir.resolve("s")).begin();
    JobSnapshot snapshot = snapshot(first);
    FileEntry file = ShardSaver.save(snapshot, confined(out.part()), HERE);
    out.publish(new Manifest("job", "a1", "async", SnapshotKind.FULL, 0, -1, 0, false, "", "",
        ModelLayout.of(snapshot.spec()), List.of(), List.of(file)).toJson(), true);
    ParameterShard next = shard(0, 1);
    JobRestore tooLate = next.restore("job");
    ShardRestorer.restore(next.restore("job"), confined(dir.resolve("s")), true, ResumePoint.NONE, HERE);
    assertThatThrownBy(() -> next.restore("job")).isInstanceOf(Conflict.class).hasMessageContaining("has begun");
    assertThatThrownBy(() -> ShardRestorer.restore(tooLate, confined(dir.resolve("s")), true, ResumePoint.NONE, HERE))
        .isInstanceOf(Conflict.class);
    assertThat(row(next, 7)).hasSize(2);
  }

  @Test
  void a_file_that_cannot_be_removed_does_not_keep_the_snapshot_open() throws IOException {
    ParameterShard job = shard(0, 1);
    job.initialize("job", TRAINER, DenseMemory.of(new float[30]));
    Files.createDirectories(dir.resolve(ShardFileWriter.name(0, 1)).resolve("x"));
    JobSnapshot taken = snapshot(job);
    assertThatThrownBy(() -> ShardSaver.save(taken, confined(dir), HERE)).isInstanceOf(IOException.class);
    assertThat(snapshot(job)).isNotNull();
  }

  /** Reads a directory into the only shard of a job. */
  private boolean restored(Path from, boolean resume) throws IOException {
    return ShardRestorer.restore(shard(0, 1).restore("job"), confined(from), resume, ResumePoint.NONE, HERE);
  }

  private static ConfinedDirectory confined(Path trusted) {
    return ConfinedDirectory.of(trusted);
  }

  private static Shrunk shrink(ParameterShard shard, long number) {
    return answer(shard.shrink("job", TRAINER, number, true));
  }

  @Test
  void a_damaged_file_is_named_by_who_is_to_go_on_from_it() throws IOException {
    ParameterShard shard = shard(0, 1);
    shard.initialize("job", TRAINER, DenseMemory.of(new float[30]));
    SnapshotDirectory out = SnapshotDirectory.of(dir.resolve("s")).begin();
    JobSnapshot snapshot = snapshot(shard);
    FileEntry file = ShardSaver.save(snapshot, confined(out.part()), HERE);
    out.publish(new Manifest("job", "a1", "async", SnapshotKind.FULL, 0, -1, 0, false, "", "",
        ModelLayout.of(snapshot.spec()), List.of(), List.of(file)).toJson(), true);
    assertThat(restored(dir.resolve("s"), true)).isTrue();
    Path path = dir.resolve("s").resolve(file.file());
    byte[] bytes = Files.readAllBytes(path);
    for (int at = 0; at < bytes.length; at += at < 2000 ? 7 : 97) { // the header, too, and what it says of shrinks
      byte[] flipped = bytes.clone();
      flipped[at] ^= 1;
      Files.write(path, flipped);
      assertThatThrownBy(() -> restored(dir.resolve("s"), true))
          .as("byte %d of %d", at, bytes.length).isInstanceOf(InvalidInput.class).hasMessageContaining(path.toString());
    }
    bytes[bytes.length - 1] ^= 1;
    Files.write(path, bytes);
    assertThatThrownBy(() -> restored(dir.resolve("s"), true))
        .isInstanceOf(InvalidInput.class).hasMessageContaining(path + " is damaged in tensor").hasMessageContaining("dense/w/");
  }

  private static ParameterShard shard(OptimizerSpec dense, OptimizerSpec rows) {
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("w", List.of(1))), dense,
        List.of(new SparseTableSpec("emb", 1, InitializerSpec.zeros(), rows)));
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    shard.register(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 8, model), TRAINER, 0);
    return shard;
  }

  /** Pushes a gradient of 1 for the dense element and the row; returns both as they are then. */
  private static float[] pushed(ParameterShard shard, long sequence) {
    assertThat(shard.push("job",
        new Push(List.of(new Contributor(0, 1, sequence, 1)), 0, 0, DenseMemory.of(new float[] {1}),
        List.of(new SparseRows("emb", new long[] {3}, new float[] {1}))))).isCompleted();
    Pull pull = new Pull(0, 0, true, List.of(new SparseIds("emb", new long[] {3})), false, true);
    Pulled pulled = answer(shard.pull("job", pull));
    float[] both = {pulled.dense().toArray()[0], pulled.sparse().get(0).values()[0]};
    pulled.release();
    return both;
  }

  private static OptimizerUpdates updates(ParameterShard shard) {
    JobSnapshot snapshot = snapshot(shard);
    snapshot.end(true);
    return snapshot.updates();
  }

  private ParameterShard from(String name, ParameterShard saved, boolean resume, ParameterShard into) throws IOException {
    SnapshotDirectory out = SnapshotDirectory.of(dir.resolve(name)).begin();
    JobSnapshot snapshot = snapshot(saved);
    FileEntry file = ShardSaver.save(snapshot, confined(out.part()), HERE);
    out.publish(new Manifest("job", "a1", "async", SnapshotKind.FULL, 0, -1, snapshot.version(), snapshot.updates(),
        false, ExampleCounts.NONE, "", "", ModelLayout.of(snapshot.spec()), List.of(), List.of(file), "", List.of())
        .toJson(), true);
    ShardRestorer.restore(into.restore("job"), confined(dir.resolve(name)), resume, ResumePoint.NONE, HERE);
    return into;
  }

  /** With the old count Adam's bias correction is all but off, and its first update is 0.1 / sqrt(0.001) = 3.16 times the rate. */
  @Test
  void countsUpdatesFromZero_whenARunBeginsWithAnotherOptimizer() throws IOException {
    OptimizerSpec adam = OptimizerSpec.of("adam", 0.125);
    OptimizerSpec adagrad = OptimizerSpec.of("adagrad", 0.5);
    ParameterShard first = shard(OptimizerSpec.sgd(1), adagrad);
    first.initialize("job", TRAINER, DenseMemory.of(new float[1]));
    float[] before = {0, 0};
    for (int n = 1; n <= 5000; n++) {
      before = pushed(first, n);
    }
    ParameterShard other = from("other", first, false, shard(adam, adam));
    float[] after = pushed(other, 1);
    assertThat(before[0] - after[0]).isCloseTo(0.125f, within(1e-3f));
    assertThat(before[1] - after[1]).isCloseTo(0.125f, within(1e-3f));
    assertThat(updates(other)).isEqualTo(new OptimizerUpdates(1, Map.of("emb", 1L)));

    ParameterShard resumed = from("resumed", other, true, shard(adam, adam));
    assertThat(pushed(resumed, 1)).containsExactly(pushed(other, 2));
    ParameterShard same = from("same", first, false, shard(adam, adagrad));
    pushed(same, 1);
    assertThat(updates(same)).isEqualTo(new OptimizerUpdates(1, Map.of("emb", 5001L)));
  }
}
