package io.regatta.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The services' log configuration, which tests use as well. */
class ServiceLoggingTest {

  @Test
  void warningsOfHazelcastDoNotReachTheUser() {
    assertThat(List.of("com.hazelcast.spi.impl.operationservice.OperationService",
        "com.hazelcast.internal.partition.InternalPartitionService", "com.hazelcast.map.impl.operation.PutOperation",
        "com.hazelcast.internal.cluster.impl.operations.FinalizeJoinOp"))
        .noneMatch(name -> LoggerFactory.getLogger(name).isWarnEnabled())
        .allMatch(name -> LoggerFactory.getLogger(name).isErrorEnabled());
    assertThat(List.of("com.hazelcast.instance.impl.Node", "com.hazelcast.cluster", "com.hazelcast.security"))
        .as("that it could not join we say ourselves").noneMatch(name -> LoggerFactory.getLogger(name).isErrorEnabled());
  }

  /** Said by Vert.x itself: a loop that is blocked, with the watchdog set to be quick about it. */
  @Test
  void saysOfBlockedLoops_oneSentence() throws Exception {
    PrintStream err = System.err;
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    ListAppender<ILoggingEvent> heard = new ListAppender<>();
    heard.list = new CopyOnWriteArrayList<>();
    heard.start();
    Logger checker = (Logger) LoggerFactory.getLogger("io.vertx.core.impl.BlockedThreadChecker");
    checker.addAppender(heard);
    Vertx vertx = Vertx.vertx(new VertxOptions().setBlockedThreadCheckInterval(20)
        .setMaxEventLoopExecuteTime(20).setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS)
        .setWarningExceptionTime(20).setWarningExceptionTimeUnit(TimeUnit.MILLISECONDS));
    System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8)); // logback's console asks for it with each line
    try {
      CountDownLatch blocking = new CountDownLatch(1);
      vertx.runOnContext(v -> awaitUnder(blocking));
      while (heard.list.stream().filter(event -> event.getThrowableProxy() != null).count() < 3) {
        Thread.onSpinWait();
      }
      blocking.countDown();
    } finally {
      System.setErr(err);
      checker.detachAppender(heard);
      vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
    String shown = written.toString(StandardCharsets.UTF_8);
    assertThat(shown.lines().filter(line -> line.contains("BlockedThread"))).as(shown).hasSizeLessThanOrEqualTo(1);
    assertThat(shown).doesNotContain("Exception", "\tat ");
  }

  @Test
  void saysOfBlockedThreadsAtMostOnceAMinute_andWhereAtDebug() {
    ListAppender<ILoggingEvent> said = new ListAppender<>();
    said.start();
    Logger ours = (Logger) LoggerFactory.getLogger(BlockedThreadNotice.class);
    Level before = ours.getLevel();
    ours.setLevel(Level.DEBUG);
    ours.setAdditive(false);
    ours.addAppender(said);
    BlockedThreadNotice notice = new BlockedThreadNotice();
    notice.start();
    for (long millis : new long[] {0, 1000, 59_999, 60_000, 61_000}) {
      notice.doAppend(blockedAt(millis));
    }
    ours.detachAppender(said);
    ours.setAdditive(true);
    ours.setLevel(before);
    assertThat(said.list).filteredOn(event -> event.getLevel() == Level.WARN).hasSize(2).first()
        .satisfies(event -> assertThat(event.getFormattedMessage()).startsWith("vert.x-eventloop-thread-1 has been blocked for 2087 ms")
            .doesNotContain("\n"))
        .satisfies(event -> assertThat(event.getThrowableProxy()).isNull());
    assertThat(said.list).filteredOn(event -> event.getLevel() == Level.DEBUG).hasSize(5)
        .allSatisfy(event -> assertThat(event.getThrowableProxy()).isNotNull());
  }

  private static void awaitUnder(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static LoggingEvent blockedAt(long millis) {
    LoggingEvent event = new LoggingEvent("test", (Logger) LoggerFactory.getLogger("io.vertx.core.impl.BlockedThreadChecker"), Level.WARN,
        "Thread vert.x-eventloop-thread-1 has been blocked for 2087 ms, time limit is 2000 ms", new IllegalStateException("blocked"), null);
    event.setTimeStamp(millis);
    return event;
  }
}
