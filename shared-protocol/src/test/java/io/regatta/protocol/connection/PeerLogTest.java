package io.regatta.protocol.connection;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Peers can neither fill the log nor forge lines of it. */
class PeerLogTest {
  private final AtomicLong nanos = new AtomicLong();
  private final Logger logger = (Logger) LoggerFactory.getLogger(PeerLogTest.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @Test
  void logsOneLineInTenSeconds_andCountsTheOthers() {
    lines.start();
    logger.addAppender(lines);
    try {
      PeerLog log = new PeerLog(logger, 1, 200, nanos::get);
      for (int i = 0; i < 1000; i++) {
        log.warn("refused {}", "/a\nb");
        log.error("call failed", new IllegalStateException("a fault"));
      }
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
      log.warn("refused {}", "/c");
    } finally {
      logger.detachAppender(lines);
    }
    assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly("refused /a\\u000ab", "refused /a\\u000ab (and 99 similar lines before)",
        "refused /c (and 1998 similar lines before)");
  }

  @Test
  void logsSoManyLinesOfAnEvent_andALineOfEachHundredfoldThatIsLeftOut() {
    lines.start();
    logger.addAppender(lines);
    try {
      PeerLog log = new PeerLog(logger, 3, 200, nanos::get);
      for (int i = 0; i < 20_000; i++) {
        log.warn("{} has left", i);
      }
    } finally {
      logger.detachAppender(lines);
    }
    assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage).containsExactly("0 has left", "1 has left",
        "2 has left",
        "102 has left (and 99 similar lines before)", "10003 has left (and 9999 similar lines before)");
  }

  @Test
  void cutsWhatIsFromOutside_andNotItsOwnRemedy() {
    String remedy = "renew it there, and " + "then ".repeat(100) + "restart";
    lines.start();
    logger.addAppender(lines);
    try {
      new PeerLog(logger, 1, 200, nanos::get).warn("{}: {}", "x".repeat(1000), new OwnText(remedy + "\n"));
    } finally {
      logger.detachAppender(lines);
    }
    assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly("x".repeat(200) + "... (1000 characters): " + remedy + "\\u000a");
  }
}
