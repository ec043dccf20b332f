package io.regatta.node.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BlockedLoopGuardTest {

  @Test
  void aLoopThatWaitsIsFoundAndAnIdleOneIsNot() throws Exception {
    Vertx vertx = Vertx.vertx(new VertxOptions().setBlockedThreadCheckInterval(50)
        .setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS).setMaxEventLoopExecuteTime(200));
    BlockedLoopGuard.Watch watch = new BlockedLoopGuard.Watch();
    watch.start();
    CountDownLatch never = new CountDownLatch(1);
    vertx.timer(400, TimeUnit.MILLISECONDS).toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    assertThat(watch.violations).isEmpty();

    CountDownLatch done = new CountDownLatch(1);
    vertx.runOnContext(v -> {
      try {
        assertThat(never.await(600, TimeUnit.MILLISECONDS)).isFalse();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      done.countDown();
    });
    assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    watch.stop();
    assertThat(watch.violations).isNotEmpty().first().asString().contains("eventloop").contains("has been blocked");
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }
}
