package io.regatta.node.process;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.slf4j.LoggerFactory;

/**
 * Chooses Regatta's logging (short lines on stderr, level by {@code REGATTA_LOG}) for processes whose main is ours, and
 * what Netty records for flight recordings. A library must not bring a {@code logback.xml}: it would take over the
 * logging of the user's program. Nor does it bring logback, which belongs to the runnable jars: without it these choices
 * have no effect.
 */
public final class ServiceLogging {

  private static final String PROPERTY = "logback.configurationFile";
  private static final String OURS = "regatta-logback.xml";
  private static final String HAZELCAST = "hazelcast.logging.type";
  /** Whether Netty registers its events of flight recordings, which takes a start some 0.1 s of a core. */
  private static final String NETTY_EVENTS = "io.netty.jfr.enabled";
  /** Files that logback finds by itself. */
  private static final List<String> OWN = List.of("logback-test.xml", "logback.xml");

  private static final String LEVEL = "REGATTA_LOG";
  /** The level of libraries' own log lines, as regatta-logback.xml knows it. */
  private static final String LIBRARIES = "regatta.log.libraries";
  private static final Set<String> DETAILED = Set.of("DEBUG", "TRACE");
  private static final List<String> LEVELS = List.of("ERROR", "WARN", "INFO", "DEBUG", "TRACE");

  private ServiceLogging() {}

  /**
   * Refuses an unknown level, which logback would take for DEBUG.
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
    String level = System.getenv(LEVEL);
    if (level != null && DETAILED.contains(level.toUpperCase(Locale.ROOT)) && System.getProperty(LIBRARIES) == null) {
      System.setProperty(LIBRARIES, "INFO");
    }
    if (System.getProperty(HAZELCAST) == null) {
      System.setProperty(HAZELCAST, "slf4j"); // it logs before it has read a configuration of ours
    }
    if (System.getProperty(NETTY_EVENTS) == null) {
      System.setProperty(NETTY_EVENTS, "false"); // who records sets it to true
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
    boolean ours = !environment.containsKey(LEVEL) && OURS.equals(System.getProperty(PROPERTY))
        && LoggerFactory.getILoggerFactory().getClass().getName().startsWith("ch.qos.logback.");
    return ours ? LogbackLevel.warningsOnly("io.regatta") : () -> { };
  }

  /** Chooses the logging of a user's main: Regatta's, unless the class path holds a file of the user's. */
  public static void useUnlessGiven() {
    ClassLoader classes = Thread.currentThread().getContextClassLoader();
    if (OWN.stream().allMatch(name -> classes.getResource(name) == null)) {
      use();
    }
  }
}
