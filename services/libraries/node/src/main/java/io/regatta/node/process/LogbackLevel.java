package io.regatta.node.process;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.slf4j.LoggerFactory;

/** The level of a logger of logback: a class of its own, so that none of logback's is needed where it is absent. */
final class LogbackLevel {

  private LogbackLevel() {}

  /** Leaves only warnings and errors of a logger until the result is closed. */
  static ServiceLogging.Quiet warningsOnly(String name) {
    Logger logger = (Logger) LoggerFactory.getLogger(name);
    Level before = logger.getLevel();
    logger.setLevel(Level.WARN);
    return () -> logger.setLevel(before);
  }
}
