package io.regatta.parameterserver;

import static io.regatta.parameterserver.RunningServers.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.ParameterShard;
import io.regatta.node.settings.Settings;
import io.regatta.protocol.parameterserver.SaveRequest;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots of one shard: pushes that wait for their moments, and files that are written one after the other. */
class SnapshotWriterTest {

  private static final TrainerId TRAINER = new TrainerId(0, 1);

  @TempDir
  Path dir;

  private final Vertx vertx = Vertx.vertx();
  private final Context loop = vertx.getOrCreateContext();

  private SnapshotRoots roots() {
    return SnapshotRoots.of(List.of(dir.toString()), true);
  }

  private ParameterShard shard(int index) {
    return new ParameterShard(index, Settings.defaults(ParameterServerConfig.class).limits().core(),
        SystemClock.get(), task -> loop.runOnContext(v -> task.run()));
  }

  private <T> T onLoop(Supplier<Future<T>> call) {
    Promise<T> done = Promise.promise();
    loop.runOnContext(v -> call.get().onComplete(done));
    return get(done.future());
  }

  private static SaveRequest save(Path to) {
    return SaveRequest.newBuilder().setJob("job").setDirectory(to.toString()).setKind("full").build();
  }

  private static ParameterShard begun(ParameterShard shard) {
    shard.register(Jobs.spec("job", Mode.ASYNC, 1, 1), TRAINER, 0);
    shard.initialize("job", TRAINER, DenseMemory.of(Jobs.ramp(Jobs.NUMEL, 1)));
    return shard;
  }

  private static Future<PushAck> push(ParameterShard shard) {
    Push push = new Push(List.of(new Contributor(0, 1, 1, 8)), 0, 0, Jobs.dense(0, 0), List.of());
    return Future.fromCompletionStage(shard.push("job", push));
  }

  @Test
  void when_one_of_two_snapshots_is_taken_then_pushes_wait_for_the_other_until_that_is_refused() throws Exception {
    ParameterShard shard = shard(0);
    SnapshotWriter writer = new SnapshotWriter(vertx, VertxLoop.of(loop), shard, 1 << 20, roots(),
        TimeUnit.HOURS.toMillis(1));
    Path first = Files.createDirectory(dir.resolve("first"));
    Path second = dir.resolve("second");
    onLoop(() -> {
      begun(shard);
      return writer.hold("job", first.toString());
    });
    onLoop(() -> writer.hold("job", second.toString()));
    Promise<PushAck> acknowledged = Promise.promise();
    onLoop(() -> {
      push(shard).onComplete(acknowledged);
      return writer.save(save(first));
    });
    onLoop(() -> writer.saved("job"));
    assertThat(acknowledged.future().isComplete()).as("the second snapshot holds the push").isFalse();
    assertThatThrownBy(() -> onLoop(() -> writer.save(save(second)))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("does not see the directory " + second);
    assertThat(get(acknowledged.future()).repeatedPush()).isFalse();
    onLoop(writer::close);
    get(vertx.close());
  }

  @Test
  void when_a_link_takes_the_place_of_a_directory_that_waits_then_nothing_is_written_through_it() throws Exception {
    ParameterShard shard = shard(0);
    SnapshotWriter writer = new SnapshotWriter(vertx, VertxLoop.of(loop), shard, 1 << 20, roots());
    Path checked = Files.createDirectory(dir.resolve("checked"));
    Path outside = Files.createDirectory(dir.resolve("outside"));
    CountDownLatch disk = new CountDownLatch(1);
    Promise<Void> first = Promise.promise();
    loop.runOnContext(v -> writer.inTurn("another snapshot", () -> {
      disk.await();
      return (Void) null;
    }).onComplete(first));
    onLoop(() -> {
      begun(shard);
      return writer.save(save(checked)); // it is there, and waits for its turn
    });
    Files.move(checked, dir.resolve("moved"));
    Files.createSymbolicLink(checked, outside);
    disk.countDown();
    get(first.future());
    assertThatThrownBy(() -> onLoop(() -> writer.saved("job"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(checked + " is a symbolic link");
    assertThat(outside).isEmptyDirectory();
    onLoop(writer::close);
    get(vertx.close());
  }

  @Test
  void when_the_time_of_a_hold_is_over_then_pushes_wait_no_longer() throws Exception {
    ParameterShard shard = shard(0);
    SnapshotWriter writer = new SnapshotWriter(vertx, VertxLoop.of(loop), shard, 1 << 20, roots(), 1);
    Promise<PushAck> acknowledged = Promise.promise();
    onLoop(() -> {
      begun(shard);
      Future<?> held = writer.hold("job", dir.toString());
      push(shard).onComplete(acknowledged);
      assertThat(acknowledged.future().isComplete()).isFalse();
      return held;
    });
    assertThat(get(acknowledged.future()).repeatedPush()).isFalse();
    onLoop(writer::close);
    get(vertx.close());
  }

  @Test
  void filesThatWaitNameTheOneUnderWay() throws Exception {
    ParameterShard shard = shard(3);
    SnapshotWriter writer = new SnapshotWriter(vertx, VertxLoop.of(loop), shard, 0, roots());
    CountDownLatch disk = new CountDownLatch(1);
    Promise<List<Wait>> waits = Promise.promise();
    Promise<Void> written = Promise.promise();
    loop.runOnContext(v -> {
      Future<?> first = writer.inTurn("the snapshot of job a", () -> {
        disk.await();
        return null;
      });
      assertThat(writer.waits()).isEmpty();
      Future<?> second = writer.inTurn("the snapshot of job b", () -> null);
      waits.complete(writer.waits());
      Future.all(first, second).<Void>mapEmpty().onComplete(written);
    });
    assertThat(get(waits.future())).singleElement().satisfies(wait -> assertThat(wait.sentence(wait.sinceMillis()))
        .isEqualTo("the snapshot of job b waits at shard 3 for the snapshot of job a, file by file, since 0.0 s"));
    disk.countDown();
    get(written.future());
    Promise<List<Wait>> after = Promise.promise();
    loop.runOnContext(v -> after.complete(writer.waits()));
    assertThat(get(after.future())).isEmpty();
    get(writer.close());
    get(vertx.close());
  }
}
