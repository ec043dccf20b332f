package io.regatta.data;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What happens to lines that cannot be understood, and how many there were. Any thread. */
public final class BadLines {

  /** Names as in the configuration, lower case there. */
  public enum Policy {
    /** The first bad line ends the run. */
    FAIL,
    /** Bad lines are left out, the first few logged, all counted; the count is logged at the end of each pass. */
    SKIP
  }

  private static final Logger LOG = LoggerFactory.getLogger(BadLines.class);
  private static final int LOGGED_MAX = 5;
  /** Characters of a report in the log. */
  private static final int LINE_CHARS = 1000;

  private static final String OF_A_JOB = "data.format (behind a pipe_command multislot, where it is not set)";

  private final Policy policy;
  private final boolean logged;
  private final String skipping;
  /** What says how lines are written; empty: nothing does. */
  private final String format;
  /** There are lines whose format, of this name, is what somebody has said, and none of them has fitted yet; empty: none are. */
  private volatile String doubtful = "";
  private volatile boolean formatFits;
  private final AtomicLong skipped = new AtomicLong();

  /** Logs what it skips. */
  public BadLines(Policy policy) {
    this(policy, true);
  }

  /** @param logged false: counts only, where another reads the same lines and logs them */
  public BadLines(Policy policy, boolean logged) {
    this(policy, logged, "data.on_bad_line=skip", OF_A_JOB);
  }

  private BadLines(Policy policy, boolean logged, String skipping, String format) {
    this.policy = policy;
    this.logged = logged;
    this.skipping = skipping;
    this.format = format;
  }

  /** Of a command whose user can say what becomes of bad lines by an option, e.g. {@code --on-bad-line skip}. */
  public static BadLines ofCommand(Policy policy, String skipping) {
    return new BadLines(policy, true, skipping, "");
  }

  /** The first bad line fails, and there is no other way. */
  public static BadLines refused() {
    return refused("");
  }

  /**
   * The same.
   *
   * @param format what says how lines are written, e.g. {@code --format}; empty: nothing does
   */
  public static BadLines refused(String format) {
    return new BadLines(Policy.FAIL, false, "", format);
  }

  /**
   * Lines are to come whose format may be another than was said.
   *
   * @param expected name of what was
   */
  void doubtFormat(String expected) {
    doubtful = formatFits || format.isEmpty() ? "" : expected;
  }

  /** A line has fitted: those that do not are bad by themselves. */
  void good() {
    if (!formatFits) {
      formatFits = true;
      doubtful = "";
    }
  }

  /** Lines left out so far, over all epochs. */
  public long skipped() {
    return skipped.get();
  }

  /** Whether anybody hears of the next bad line, beyond that there is one more: it fails, or is logged. */
  public boolean isTold() {
    return policy == Policy.FAIL || logged && skipped.get() < LOGGED_MAX;
  }

  /** Reports a bad line, as below. */
  public boolean report(Line line, String column, String problem) {
    return report(place(line.file(), line.number(), column, problem), "line", line);
  }

  /**
   * Reports a bad line.
   *
   * @param file as messages call it
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

  /** Reports a file that is an example as a whole; as above. */
  public boolean reportFile(String file, String problem) {
    return report(file + " " + problem, "file", null);
  }

  /** @param line null: not known */
  private boolean report(String text, String what, Line line) {
    if (policy == Policy.FAIL) {
      String doubt = doubt(line);
      String mend = skipping.isEmpty() ? "" : "end the " + what + ", or leave such " + what + "s out with " + skipping;
      throw new InvalidInput(text + (doubt.isEmpty() ? mend.isEmpty() ? "" : ". M" + mend
          : ". N" + doubt + (mend.isEmpty() ? "" : "; else m" + mend)));
    }
    long count = skipped.incrementAndGet();
    if (logged && count <= LOGGED_MAX) {
      String doubt = count < LOGGED_MAX ? "" : doubt(line);
      LOG.warn("skipped: {}{}", PeerText.of(text, LINE_CHARS), count < LOGGED_MAX ? ""
          : " (further ones are counted, not logged"
          + (doubt.isEmpty() ? ")" : "; n" + doubt + ")"));
    }
    return false;
  }

  /** What is behind an N or n; empty: the format is not in doubt. */
  private String doubt(Line line) {
    String expected = doubtful;
    if (expected.isEmpty()) {
      return "";
    }
    String likely = line == null ? "" : LikelyFormat.of(line.text());
    return "o line so far is in the format " + expected
        + (likely.isEmpty() || likely.equals(expected) ? "" : ", and this one looks like " + likely)
        + ": see that " + format + " says how they are written";
  }

  /** Logs how many lines a reading of a whole file has left out, if any: those since {@code before} were skipped. */
  public void logRead(Path file, long before) {
    if (logged) {
      logPass(file.toString(), skipped() - before);
    }
  }

  /** Logs how many lines of {@code what} a pass over it has left out, if any. */
  public static void logPass(String what, long left) {
    if (left > 0) {
      LOG.warn("{}: left out {} that could not be read (data.on_bad_line is skip)", what,
          left == 1 ? "1 line" : left + " lines");
    }
  }

  /** {@code expected X, found 'Y'}, with Y cut to a readable length. */
  public static String expected(String what, String found) {
    String shown = found.length() <= 40 ? found : found.substring(0, 40) + "...";
    return "expected " + what + ", found '" + shown + "'";
  }
}
