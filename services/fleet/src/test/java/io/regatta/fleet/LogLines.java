package io.regatta.fleet;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.LoggerFactory;

/** What a logger says at WARN and above while this is open. Any thread. */
final class LogLines implements AutoCloseable {

  private final Logger logger;
  /** Guarded by itself. */
  private final List<String> lines = new ArrayList<>();
  private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
    @Override
    protected void append(ILoggingEvent event) {
      if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
        synchronized (lines) {
          lines.add(event.getFormattedMessage());
          lines.notifyAll();
        }
      }
    }
  };

  private LogLines(String logger) {
    this.logger = (Logger) LoggerFactory.getLogger(logger);
    appender.start();
    this.logger.addAppender(appender);
  }

  static LogLines of(String logger) {
    return new LogLines(logger);
  }

  /** Waits until so many lines have come. */
  void await(int count) throws InterruptedException {
    synchronized (lines) {
      while (lines.size() < count) {
        lines.wait();
      }
    }
  }

  List<String> lines() {
    synchronized (lines) {
      return List.copyOf(lines);
    }
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
  }
}
