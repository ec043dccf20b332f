package io.regatta.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A command that prints a table keeps the services' news from the terminal, unless somebody asked for them. */
class QuietLoggingTest {

  private static final String CONFIGURATION = "logback.configurationFile";
  private final Logger ours = (Logger) LoggerFactory.getLogger("io.regatta");
  private final String configured = System.getProperty(CONFIGURATION);
  private final Level before = ours.getLevel();

  @BeforeEach
  void ownConfiguration() {
    System.clearProperty(CONFIGURATION);
    ServiceLogging.use();
  }

  @AfterEach
  void restore() {
    ours.setLevel(before);
    if (configured == null) {
      System.clearProperty(CONFIGURATION);
    } else {
      System.setProperty(CONFIGURATION, configured);
    }
  }

  @Test
  void quietLastsUntilItIsClosed() {
    ours.setLevel(Level.INFO);
    try (ServiceLogging.Quiet quiet = ServiceLogging.quiet(Map.of())) {
      assertThat(ours.getLevel()).isEqualTo(Level.WARN);
    }
    assertThat(ours.getLevel()).isEqualTo(Level.INFO);
  }

  @Test
  void whatTheUserHasChosenStands() {
    ours.setLevel(Level.DEBUG);
    ServiceLogging.quiet(Map.of("REGATTA_LOG", "DEBUG"));
    assertThat(ours.getLevel()).isEqualTo(Level.DEBUG);
    System.setProperty(CONFIGURATION, "own.xml");
    ServiceLogging.quiet(Map.of());
    assertThat(ours.getLevel()).isEqualTo(Level.DEBUG);
  }
}
