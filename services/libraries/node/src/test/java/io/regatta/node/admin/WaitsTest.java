package io.regatta.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.core.exchange.Wait;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class WaitsTest {

  private static final Wait.Peer PEER = new Wait.Peer("trainer 3", 402, 0);

  @Test
  void theOldestComesFirstWhereverItIsKept() {
    Vertx vertx = Vertx.vertx();
    Context owner = vertx.getOrCreateContext();
    Waits waits = new Waits();
    AtomicReference<Context> asked = new AtomicReference<>();
    Wait old = new Wait("trainer 1", "pull of step 1", "shard 0", 1000, List.of(PEER));
    Waits.Source source = waits.source(VertxLoop.of(owner), () -> {
      asked.set(Vertx.currentContext());
      return List.of(old);
    });
    waits.source(VertxLoop.of(owner), () -> List.of(new Wait("trainer 2", "push", "shard 1", 2000, List.of())));
    Waits.Source broken = waits.source(VertxLoop.of(owner), () -> {
      throw new IllegalStateException("no");
    });
    try (Waits.Handle handle = waits.begin("trainer 0", "barrier", "job census", List.of(PEER))) {
      assertThat(waits.list().await()).extracting(Wait::who).containsExactly("trainer 1", "trainer 2", "trainer 0");
      assertThat(asked.get()).isSameAs(owner);
    }
    source.close();
    broken.close();
    assertThat(waits.list().await()).extracting(Wait::who).containsExactly("trainer 2");
    vertx.close().await();
  }

  @Test
  void aSourceWhoseLoopIsClosedDoesNotHideTheOthers() {
    Vertx gone = Vertx.vertx();
    Context closed = gone.getOrCreateContext();
    gone.close().await();
    Waits waits = new Waits();
    waits.source(VertxLoop.of(closed), List::of);
    try (Waits.Handle handle = waits.begin("trainer 0", "barrier", "job census", List.of(PEER))) {
      assertThat(waits.list().await()).extracting(Wait::who).containsExactly("trainer 0");
    }
  }

  @Test
  void a_source_that_ends_with_an_error_is_told_at_once_and_does_not_hide_the_others() {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(Waits.class);
    logger.addAppender(log);
    Vertx vertx = Vertx.vertx();
    Waits waits = new Waits();
    waits.source(VertxLoop.current(vertx), () -> {
      throw new OutOfMemoryError("shard 0");
    });
    try (Waits.Handle asked = waits.begin("trainer 0", "barrier", "job census", List.of(PEER));
        Waits.Handle unknown = waits.begin("trainer 1", "barrier", "job census", () -> {
          throw new OutOfMemoryError("no look");
        })) {
      assertThat(waits.list().await()).extracting(Wait::who).containsExactlyInAnyOrder("trainer 0", "trainer 1");
      assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage).singleElement().asString()
          .contains("OutOfMemoryError: shard 0");
    } finally {
      logger.detachAppender(log);
      vertx.close().await();
    }
  }

  @Test
  void namesInLongWaitsForgeNoLines_andManyWaitsAreLoggedInPart() {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(Waits.class);
    logger.addAppender(log);
    Vertx vertx = Vertx.vertx();
    try {
      Waits waits = new Waits(SystemClock.get(), 10);
      String name = "a\r\n12:00 ERROR \u001b[2J" + "x".repeat(8000);
      waits.source(VertxLoop.current(vertx), () -> IntStream.range(0, 2000).mapToObj(i ->
          new Wait(name + i, name, name, 0, List.of(Wait.Peer.named(name)))).toList());
      waits.logLong(20_000).await();
      assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage).hasSizeLessThan(250)
          .allSatisfy(line -> assertThat(line).matches("[ -~]*").hasSizeLessThan(1200)
              .contains("a\\u000d\\u000a12:00 ERROR"));
    } finally {
      logger.detachAppender(log);
      vertx.close().await();
    }
  }

  @Test
  void aLongWaitIsLoggedAtTheThresholdAndThenAtDoubleAge() {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(Waits.class);
    logger.addAppender(log);
    Vertx vertx = Vertx.vertx();
    try {
      Waits waits = new Waits(SystemClock.get(), 10);
      waits.source(VertxLoop.current(vertx), () -> List.of(new Wait("trainer 1", "pull of step 418", "shard 0 of job census", 0,
          List.of(PEER))));
      for (long now = 0; now <= 45_000; now += 1000) {
        waits.logLong(now).await();
      }
      assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage).containsExactly(
          "trainer 1 waits at shard 0 of job census for trainer 3 (last step 402), pull of step 418, since 10.0 s",
          "trainer 1 waits at shard 0 of job census for trainer 3 (last step 402), pull of step 418, since 20.0 s",
          "trainer 1 waits at shard 0 of job census for trainer 3 (last step 402), pull of step 418, since 40.0 s");
    } finally {
      logger.detachAppender(log);
      vertx.close().await();
    }
  }

  @Test
  void forWhomAWaitWaitsIsAskedForWhenItIsShownOrHasBecomeLong() {
    AtomicInteger asked = new AtomicInteger();
    Waits waits = new Waits(SystemClock.get(), 10);
    Promise<List<Wait.Peer>> answer = Promise.promise();
    Waits.Handle barrier = waits.begin("trainer 0", "barrier", "job census", () -> {
      asked.incrementAndGet();
      return asked.get() == 4 ? answer.future() : asked.get() == 1 ? Future.succeededFuture(List.of(PEER))
          : Future.failedFuture("the rendezvous is silent");
    });
    long begun = waits.list().await().get(0).sinceMillis();
    assertThat(asked).hasValue(1);
    waits.logLong(begun + 9_999).await();
    assertThat(asked).as("not long yet").hasValue(1);
    waits.logLong(begun + 10_000).await();
    waits.logLong(begun + 11_000).await();
    assertThat(asked).as("logged once").hasValue(2);
    assertThat(waits.list().await().get(0).sentence(begun + 1000))
        .isEqualTo("trainer 0 waits at job census for somebody (the rendezvous is silent), barrier, since 1.0 s");
    Future<List<Wait>> last = waits.list();
    barrier.close();
    answer.complete(List.of(PEER));
    assertThat(last.await()).as("over meanwhile").isEmpty();
  }
}
