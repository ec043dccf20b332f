package io.regatta.protocol.security;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * Log lines that a peer can cause: at most one in ten seconds, and without control characters. The next line says how
 * many were left out. Each kind of line has an instance of its own. Thread-safe.
 */
public final class PeerLog {
  /** Longest text of a peer in a line, in characters; the rest is cut off. */
  static final int MAX_CHARS = 200;
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Logger log;
  private final LongSupplier nanos;
  private final AtomicLong last;
  private final AtomicLong omitted = new AtomicLong();

  /** Creates the limiter of one kind of line. */
  public PeerLog(Logger log) {
    this(log, System::nanoTime);
  }

  PeerLog(Logger log, LongSupplier nanos) {
    this.log = log;
    this.nanos = nanos;
    this.last = new AtomicLong(nanos.getAsLong() - PAUSE_NANOS);
  }

  /** Logs a warning if one is due. The values are escaped and cut, see {@link #text}. */
  public void warn(String format, Object... values) {
    if (isDue()) {
      Object[] texts = new Object[values.length];
      for (int i = 0; i < values.length; i++) {
        texts[i] = text(values[i]);
      }
      log.warn(format + omission(), texts);
    }
  }

  /** Logs a fault of this process with its stack trace if a line is due. */
  public void error(String what, Throwable fault) {
    if (isDue()) {
      log.error("{}" + omission(), text(what), fault);
    }
  }

  private boolean isDue() {
    long before = last.get();
    long now = nanos.getAsLong();
    if (now - before >= PAUSE_NANOS && last.compareAndSet(before, now)) {
      return true;
    }
    omitted.incrementAndGet();
    return false;
  }

  private String omission() {
    long lines = omitted.getAndSet(0);
    return lines == 0 ? "" : " (and " + lines + (lines == 1 ? " similar line" : " similar lines") + " before)";
  }

  /** Returns a peer's text for a log line: at most 200 characters, each outside printable ASCII escaped. */
  public static String text(Object value) {
    String whole = String.valueOf(value);
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < Math.min(whole.length(), MAX_CHARS); i++) {
      char c = whole.charAt(i);
      line.append(c >= ' ' && c < 0x7f ? String.valueOf(c) : String.format("\\u%04x", (int) c));
    }
    return whole.length() <= MAX_CHARS ? line.toString()
        : line + "... (" + whole.length() + " characters)";
  }
}
