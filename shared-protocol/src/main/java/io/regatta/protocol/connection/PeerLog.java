package io.regatta.protocol.connection;

import io.regatta.core.error.PeerText;
import io.regatta.protocol.vertx.SystemClock;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * A limiter of log lines that a peer can cause: few in ten seconds, of bounded length, and escaped ({@link PeerText}).
 * A line shows how many were suppressed before it: the first after those ten seconds, and of a flood the 100th, the
 * 10,000th and so on. Each kind of line has an instance of its own, so that one cannot silence another. Values are from
 * outside, and are cut, unless they are an {@link OwnText}. Thread-safe.
 */
public final class PeerLog {
  private static final int EVENT_CHARS = 1000;
  private static final int EVENT_LINES = 100;
  static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long FIRST_REPORT = 100;

  /** Time of all limiters that are not given one; tests let ten seconds pass. */
  static volatile LongSupplier clock = SystemClock.get()::nanos;

  private final Logger log;
  private final int lines;
  private final int chars;
  private final LongSupplier nanos;
  /** Begin of the current ten seconds. Guarded by this, as what follows. */
  private long since;
  private int logged;
  private long omitted;
  private long nextReport = FIRST_REPORT;

  /** Creates the limiter of one kind of refusal or fault: one line in ten seconds. */
  public PeerLog(Logger log) {
    this(log, 1, PeerText.MAX_CHARS, () -> clock.getAsLong());
  }

  /**
   * Creates the limiter of one kind of event that belongs to healthy jobs too: 100 lines in ten seconds, with texts of
   * up to 1,000 characters.
   */
  public static PeerLog ofEvents(Logger log) {
    return new PeerLog(log, EVENT_LINES, EVENT_CHARS, () -> clock.getAsLong());
  }

  PeerLog(Logger log, int lines, int chars, LongSupplier nanos) {
    this.log = log;
    this.lines = lines;
    this.chars = chars;
    this.nanos = nanos;
    this.since = nanos.getAsLong();
  }

  /** Logs a warning if one is due. The values are escaped and cut, see {@link PeerText}. */
  public void warn(String format, Object... values) {
    String omission = due();
    if (omission != null) {
      log.warn(format + omission, texts(values));
    }
  }

  /** Logs an information if one is due. The values are escaped and cut, see {@link PeerText}. */
  public void info(String format, Object... values) {
    String omission = due();
    if (omission != null) {
      log.info(format + omission, texts(values));
    }
  }

  /** Logs a fault of this process with its stack trace if a line is due. */
  public void error(String what, Throwable fault) {
    String omission = due();
    if (omission != null) {
      log.error("{}" + omission, PeerText.of(what, chars), fault);
    }
  }

  /** Returns a text about the suppressed lines, or null if this one is suppressed, too. */
  private synchronized String due() {
    long now = nanos.getAsLong();
    if (now - since >= PAUSE_NANOS) {
      since = now;
      logged = 0;
    }
    if (logged < lines) {
      logged++;
      String omission = omission();
      omitted = 0;
      nextReport = FIRST_REPORT;
      return omission;
    }
    if (omitted + 1 == nextReport) {
      nextReport *= FIRST_REPORT;
      return omission();
    }
    omitted++;
    return null;
  }

  private String omission() {
    return omitted == 0 ? "" : " (and " + omitted + (omitted == 1 ? " similar line" : " similar lines") + " before)";
  }

  private Object[] texts(Object[] values) {
    Object[] texts = new Object[values.length];
    for (int i = 0; i < values.length; i++) {
      texts[i] = values[i] instanceof OwnText own ? PeerText.message(own.text()) : PeerText.of(values[i], chars);
    }
    return texts;
  }
}
