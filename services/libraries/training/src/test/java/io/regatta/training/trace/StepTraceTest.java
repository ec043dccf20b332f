package io.regatta.training.trace;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Warnings of a timeline that cannot contain everything that was requested. */
class StepTraceTest {
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @TempDir
  Path dir;

  @BeforeEach
  void listen() {
    log.start();
    logger().addAppender(log);
  }

  @AfterEach
  void stop() {
    logger().detachAppender(log);
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger(StepTrace.class);
  }

  private static StepTrace steps(Path file) {
    return new StepTrace(SystemClock.get(), file, 0, 2, 4, 3);
  }

  private static void step(StepTrace trace, long step) {
    trace.begins(step);
    trace.span("replica 0", "step", System.nanoTime(), Map.of("step", step));
  }

  private List<String> warnings() {
    return log.list.stream().filter(e -> e.getLevel() == Level.WARN).map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void a_run_that_ends_before_the_first_step_says_that_there_is_none() {
    StepTrace trace = steps(dir.resolve("t.json"));
    step(trace, 0);
    step(trace, 1);
    trace.end();
    trace.end();
    assertThat(warnings()).singleElement().asString().contains("no timeline", "before step 2", "trace.from_step");
    assertThat(dir.resolve("t.json")).doesNotExist();
    StepTrace.off().end();
    assertThat(warnings()).hasSize(1);
  }

  @Test
  void spans_beyond_the_limit_are_counted() throws Exception {
    Path file = dir.resolve("t.json");
    StepTrace trace = steps(file);
    step(trace, 2);
    step(trace, 2);
    step(trace, 3);
    step(trace, 3);
    step(trace, 3);
    trace.begins(4);
    assertThat(trace.on()).isFalse();
    assertThat(new JsonObject(Files.readString(file)).getJsonArray("traceEvents")).hasSize(2 + 3);
    assertThat(log.list).last().extracting(ILoggingEvent::getFormattedMessage).asString().contains("2 spans beyond the limit of 3");
  }

  /** It is called in a finally, and by a thread that was interrupted because the run is stopped. */
  @Test
  void what_cannot_be_written_is_a_warning_and_an_interrupt_is_no_reason() throws Exception {
    StepTrace lost = steps(Files.createFile(dir.resolve("file")).resolve("t.json"));
    step(lost, 2);
    lost.end();
    assertThat(warnings()).singleElement().asString().contains("could not write", "--trace");
    StepTrace written = steps(dir.resolve("t.json"));
    step(written, 2);
    Thread.currentThread().interrupt();
    written.end();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(dir.resolve("t.json")).content().contains("\"step\"");
  }
}
