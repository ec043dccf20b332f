package io.regatta.data;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The policy for lines that cannot be parsed, and their count. Any thread may use it. */
public final class BadLines {

  /** The choices of the configuration, which writes them in lower case. */
  public enum Policy {
    /** The first bad line ends the run. */
    FAIL,
    /**
     * Bad lines are skipped: the first few are logged, all are counted, and the count is logged at the end of each
     * pass.
     */
    SKIP
  }

  private static final Logger LOG = LoggerFactory.getLogger(BadLines.class);
  private static final int LOGGED_MAX = 5;
  /** Most characters of a bad line's report in the log. */
  private static final int LINE_CHARS = 1000;

  private static final String OF_A_JOB = "data.format (multislot by default after a pipe_command)";

  private final Policy policy;
  private final boolean logged;
  private final String skipping;
  /** The option or key that names the format of the lines, for messages; empty if there is none. */
  private final String format;
  /**
   * Name of the configured format while no line has matched it yet, so that it may be the wrong one; otherwise empty.
   */
  private volatile String doubtedFormat = "";
  private volatile boolean formatFits;
  private final AtomicLong skipped = new AtomicLong();

  /** Creates one that logs what it skips. */
  public BadLines(Policy policy) {
    this(policy, true);
  }

  /** @param logged false: counts only, if another instance reads the same lines and logs them */
  public BadLines(Policy policy, boolean logged) {
    this(policy, logged, "data.on_bad_line=skip", OF_A_JOB);
  }

  private BadLines(Policy policy, boolean logged, String skipping, String format) {
    this.policy = policy;
    this.logged = logged;
    this.skipping = skipping;
    this.format = format;
  }

  /** Creates one for a command whose option sets the policy, for example {@code --on-bad-line skip}. */
  public static BadLines ofCommand(Policy policy, String skipping) {
    return new BadLines(policy, true, skipping, "");
  }

  /** Creates one for which the first bad line fails, without an option to skip it. */
  public static BadLines refused() {
    return refused("");
  }

  /**
   * Creates one for which the first bad line fails, without an option to skip it.
   *
   * @param format option that names the format of the lines, for example {@code --format}; empty if there is none
   */
  public static BadLines refused(String format) {
    return new BadLines(Policy.FAIL, false, "", format);
  }

  /**
   * Notes that lines of this format follow, of which none has matched yet.
   *
   * @param expected name of the configured format
   */
  void doubtFormat(String expected) {
    doubtedFormat = formatFits || format.isEmpty() ? "" : expected;
  }

  /** Notes that a line has matched the format: from now on a bad line does not put the format in doubt. */
  void good() {
    if (!formatFits) {
      formatFits = true;
      doubtedFormat = "";
    }
  }

  /** Returns the number of lines skipped so far, over all epochs. */
  public long skipped() {
    return skipped.get();
  }

  /** Returns true if the next bad line is reported rather than only counted: it fails the run, or is logged. */
  public boolean isTold() {
    return policy == Policy.FAIL || logged && skipped.get() < LOGGED_MAX;
  }

  /** Reports a bad line; see {@link #report(String, long, String, String)}. */
  public boolean report(Line line, String column, String problem) {
    return report(place(line.file(), line.number(), column, problem), "line", line);
  }

  /**
   * Reports a bad line.
   *
   * @param file its name in messages
   * @param column number from 1 and name, for example {@code column 5 (I4)}
   * @param problem what was expected and what was found
   * @return false, for {@link SlotSource#parse}
   * @throws InvalidInput if the policy is to fail
   */
  public boolean report(String file, long line, String column, String problem) {
    return report(place(file, line, column, problem), "line", null);
  }

  private static String place(String file, long line, String column, String problem) {
    return file + ", line " + line + ", " + column + ": " + problem;
  }

  /** Reports a file that is an example as a whole; see {@link #report(String, long, String, String)}. */
  public boolean reportFile(String file, String problem) {
    return report(file + " " + problem, "file", null);
  }

  /** @param line null if it is not known */
  private boolean report(String text, String what, Line line) {
    if (policy == Policy.FAIL) {
      String doubt = doubt(line);
      String remedy = skipping.isEmpty() ? "" : "fix the " + what + ", or skip such " + what + "s with " + skipping;
      String advice = doubt.isEmpty() || remedy.isEmpty() ? doubt + remedy : doubt + "; else " + remedy;
      throw new InvalidInput(advice.isEmpty() ? text
          : text + ". " + Character.toUpperCase(advice.charAt(0)) + advice.substring(1));
    }
    long count = skipped.incrementAndGet();
    if (logged && count <= LOGGED_MAX) {
      String doubt = count < LOGGED_MAX ? "" : doubt(line);
      LOG.warn("skipped: {}{}", PeerText.of(text, LINE_CHARS), count < LOGGED_MAX ? ""
          : " (further ones are counted, not logged"
          + (doubt.isEmpty() ? ")" : "; " + doubt + ")"));
    }
    return false;
  }

  /** Returns the advice to check the format, without a capital; empty if the format is not in doubt. */
  private String doubt(Line line) {
    String expected = doubtedFormat;
    if (expected.isEmpty()) {
      return "";
    }
    String likely = line == null ? "" : LikelyFormat.of(line.text());
    return "no line so far is in the format " + expected
        + (likely.isEmpty() || likely.equals(expected) ? "" : ", and this one looks like " + likely)
        + ": check that " + format + " names their format";
  }

  /**
   * Logs the number of lines skipped while a whole file was read, if any: those skipped after the count {@code before}.
   */
  public void logRead(Path file, long before) {
    if (logged) {
      logPass(file.toString(), skipped() - before);
    }
  }

  /** Logs the number of lines skipped in a pass over {@code what}, if any. */
  public static void logPass(String what, long left) {
    if (left > 0) {
      LOG.warn("{}: skipped {} that could not be parsed (data.on_bad_line is skip)", what,
          left == 1 ? "1 line" : left + " lines");
    }
  }

  /** Returns {@code expected X, found 'Y'}, with Y cut to a readable length. */
  public static String expected(String what, String found) {
    String shown = found.length() <= 40 ? found : found.substring(0, 40) + "...";
    return "expected " + what + ", found '" + shown + "'";
  }
}
