package io.regatta.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Warnings of Vert.x and Netty that strangers cause do not fill the log, and forge no line of it. */
class LibraryNoticeTest {

  @Test
  void logsFewLinesOfEachClass_whenALibraryWarnsWithoutEnd() {
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    root.addAppender(lines);
    try {
      for (int i = 0; i < 1000; i++) {
        LoggerFactory.getLogger("io.netty.Rubbish").warn("rubbish {}", "\nforged");
      }
      LoggerFactory.getLogger("io.vertx.Fault").error("Unhandled exception", new IllegalStateException("a fault"));
    } finally {
      root.detachAppender(lines);
    }
    assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage).containsExactly(
        "io.netty.Rubbish: rubbish \\u000aforged",
        "io.netty.Rubbish: rubbish \\u000aforged (and 99 similar lines before)",
        "io.vertx.Fault: Unhandled exception");
    assertThat(lines.list.get(2).getThrowableProxy().getMessage()).isEqualTo("a fault");
  }
}
