package io.regatta.node;

/**
 * Chooses Regatta's logging (short lines on stderr, level by {@code REGATTA_LOG}) for processes whose main is ours. A
 * library must not bring a {@code logback.xml}: it would take over the logging of the user's program.
 */
public final class ServiceLogging {

  private static final String PROPERTY = "logback.configurationFile";

  private ServiceLogging() {}

  /** Call it first in a main class, before anything makes a logger. A file chosen by the user stands. */
  public static void use() {
    if (System.getProperty(PROPERTY) == null) {
      System.setProperty(PROPERTY, "regatta-logback.xml");
    }
  }
}
