package io.regatta.parameterserver;

import static io.regatta.parameterserver.RunningServers.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.ParameterShard;
import io.regatta.node.settings.Settings;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Files of several jobs on one shard go one after the other, and whoever asks is told so. */
class SnapshotWriterTest {

  @Test
  void filesThatWaitNameTheOneUnderWay() throws Exception {
    Vertx vertx = Vertx.vertx();
    Context loop = vertx.getOrCreateContext();
    ParameterShard shard = new ParameterShard(3, Settings.defaults(ParameterServerConfig.class).limits().core(),
        System::currentTimeMillis, task -> loop.runOnContext(v -> task.run()));
    SnapshotWriter writer = new SnapshotWriter(vertx, loop, shard, 0);
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
