package io.regatta.node.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.LoggerFactory;

/** Lines that a logger and those below it write while this is open. Any thread. */
public final class LogLines implements AutoCloseable {

  /** Time, level and class before each line, about. */
  private static final int HEAD_BYTES = 40;

  private final Logger logger;
  /** Guarded by itself, as what follows. */
  private final List<String> lines = new ArrayList<>();
  private final List<String> causes = new ArrayList<>();
  private long bytes;
  private final AppenderBase<ILoggingEvent> appender;

  private LogLines(String logger, Level least) {
    this.logger = (Logger) LoggerFactory.getLogger(logger);
    appender = new AppenderBase<>() {
      @Override
      protected void append(ILoggingEvent event) {
        if (event.getLevel().isGreaterOrEqual(least)) {
          add(event);
        }
      }
    };
    appender.start();
    this.logger.addAppender(appender);
  }

  /** Collects the warnings and errors of a logger. */
  public static LogLines of(String logger) {
    return new LogLines(logger, Level.WARN);
  }

  /** Collects whatever this process logs. */
  public static LogLines ofProcess() {
    return new LogLines(org.slf4j.Logger.ROOT_LOGGER_NAME, Level.ALL);
  }

  private void add(ILoggingEvent event) {
    IThrowableProxy thrown = event.getThrowableProxy();
    synchronized (lines) {
      lines.add(event.getFormattedMessage());
      bytes += HEAD_BYTES + event.getFormattedMessage().length()
          + (thrown == null ? 0 : ThrowableProxyUtil.asString(thrown).length());
      for (; thrown != null; thrown = thrown.getCause()) {
        causes.add(String.valueOf(thrown.getMessage()));
      }
      lines.notifyAll();
    }
  }

  /** Waits until a number of lines has come. */
  public void await(int count) throws InterruptedException {
    synchronized (lines) {
      while (lines.size() < count) {
        lines.wait();
      }
    }
  }

  /** Returns the messages until now. */
  public List<String> lines() {
    synchronized (lines) {
      return List.copyOf(lines);
    }
  }

  /** Returns the messages of all that was thrown and logged with its stack trace. */
  public List<String> causes() {
    synchronized (lines) {
      return List.copyOf(causes);
    }
  }

  /** Returns about how many bytes a log file has grown by, stack traces included. */
  public long bytes() {
    synchronized (lines) {
      return bytes;
    }
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
  }
}
