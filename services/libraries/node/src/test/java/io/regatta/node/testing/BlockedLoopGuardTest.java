package io.regatta.node.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class BlockedLoopGuardTest {

  @Test
  void aLoopThatWaitsIsFoundAndAnIdleOneIsNot() throws Exception {
    Vertx vertx = Vertx.vertx(new VertxOptions().setBlockedThreadCheckInterval(50)
        .setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS).setMaxEventLoopExecuteTime(200));
    BlockedLoopGuard.Watch watch = new BlockedLoopGuard.Watch();
    watch.start();
    vertx.timer(400, TimeUnit.MILLISECONDS).toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertThat(watch.violations).isEmpty();

    CountDownLatch found = new CountDownLatch(1);
    vertx.runOnContext(v -> {
      try {
        found.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (watch.violations.isEmpty() && System.nanoTime() < end) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
    found.countDown();
    watch.stop();
    assertThat(watch.violations).isNotEmpty().first().asString().contains("eventloop").contains("has been blocked");
    vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }
}
