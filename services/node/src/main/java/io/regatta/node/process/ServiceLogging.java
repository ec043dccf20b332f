package io.regatta.node.process;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.slf4j.LoggerFactory;

/**
 * Chooses Regatta's logging (short lines on stderr, level by {@code REGATTA_LOG}) for processes whose main is ours. A
 * library must not bring a {@code logback.xml}: it would take over the logging of the user's program.
 */
public final class ServiceLogging {

  private static final String PROPERTY = "logback.configurationFile";
  private static final String OURS = "regatta-logback.xml";
  private static final String HAZELCAST = "hazelcast.logging.type";
  /** Where logback looks by itself. */
  private static final List<String> OWN = List.of("logback-test.xml", "logback.xml");

  private static final String LEVEL = "REGATTA_LOG";
  private static final List<String> LEVELS = List.of("ERROR", "WARN", "INFO", "DEBUG", "TRACE");

  private ServiceLogging() {}

  /**
   * Refuses a level that there is none of, which logback would take for DEBUG.
   *
   * @param environment the variables of the process
   * @throws InvalidInput naming the levels
   */
  public static void checkLevel(Map<String, String> environment) {
    String level = environment.get(LEVEL);
    if (level != null && !LEVELS.contains(level.toUpperCase(Locale.ROOT))) {
      throw new InvalidInput("environment variable " + LEVEL + " is \"" + level + "\": expected one of "
          + String.join(", ", LEVELS));
    }
  }

  /** Call it first in a main class, before anything makes a logger. A file chosen by the user stands. */
  public static void use() {
    if (System.getProperty(PROPERTY) == null) {
      System.setProperty(PROPERTY, OURS);
    }
    if (System.getProperty(HAZELCAST) == null) {
      System.setProperty(HAZELCAST, "slf4j"); // it logs before it has read a configuration of ours
    }
  }

  /** Ends {@link #quiet}. */
  @FunctionalInterface
  public interface Quiet extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Leaves only warnings and errors of Regatta's own log, until it is closed: for a command whose output is a table. A
   * level that the environment or another logging configuration has chosen stands.
   */
  public static Quiet quiet(Map<String, String> environment) {
    if (environment.containsKey(LEVEL) || !OURS.equals(System.getProperty(PROPERTY))
        || !(LoggerFactory.getLogger("io.regatta") instanceof Logger logger)) {
      return () -> { };
    }
    Level before = logger.getLevel();
    logger.setLevel(Level.WARN);
    return () -> logger.setLevel(before);
  }

  /** For a user's main: ours, unless the class path holds a file of the user's. */
  public static void useUnlessGiven() {
    ClassLoader classes = Thread.currentThread().getContextClassLoader();
    if (OWN.stream().allMatch(name -> classes.getResource(name) == null)) {
      use();
    }
  }
}
