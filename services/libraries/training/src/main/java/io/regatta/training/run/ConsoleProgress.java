package io.regatta.training.run;

import io.regatta.core.progress.Progress;
import io.regatta.protocol.vertx.SystemClock;
import java.io.Console;
import java.io.PrintStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * A {@link Progress} display for people, owned by one model thread. On a terminal it is a bar with rate, metrics and
 * time left; if output goes to a file or a pipe, plain lines, at most one per interval. Examples and rates are those of
 * the reporting replica. If there are other replicas, each line names the reporting one; a bar has no room for that, so
 * one line before the first bar names it.
 */
public final class ConsoleProgress implements Progress {

  /** Time between two plain lines. */
  public static final Duration LINE_INTERVAL = Duration.ofSeconds(2);

  /** Number of examples from which a bar counts in thousands. */
  private static final long THOUSANDS_FROM = 10_000;
  private static final int BAR_INTERVAL_MS = 200;

  private final String name;
  private final Supplier<String> part;
  private final PrintStream out;
  private final boolean terminal;
  private final long lineIntervalNanos;
  private final LongSupplier nanoTime;
  private final Map<String, Double> metrics = new LinkedHashMap<>();
  private String phase;
  private String unit;
  private long total;
  private long done;
  /** Part of {@code done} that was done before the phase began. */
  private long behind;
  private long beganAt;
  private long lastLineAt;
  /** Null if only the total shows the progress of the phase. */
  private DoubleSupplier share;
  /** The first known share, and when it was known; NaN: none yet. */
  private double shareBegan;
  private long shareBeganAt;
  private boolean introduced;
  private ProgressBar bar;

  /**
   * Creates the progress of {@code name} (the job) on standard output, as a bar if that is a terminal.
   *
   * @param part name of the reporting replica among several, e.g. {@code trainer 0 of 2}; empty if it is the only one
   */
  public static ConsoleProgress create(String name, String part) {
    return create(name, () -> part);
  }

  /** Creates a progress whose {@code part} changes as trainers join and leave. */
  static ConsoleProgress create(String name, Supplier<String> part) {
    return new ConsoleProgress(name, part, System.out, onTerminal(), LINE_INTERVAL, SystemClock.get()::nanos);
  }

  /** Creates a progress with the given output, form, line interval and clock. */
  ConsoleProgress(String name, Supplier<String> part, PrintStream out, boolean terminal, Duration lineInterval, LongSupplier nanoTime) {
    this.name = name;
    this.part = part;
    this.out = out;
    this.terminal = terminal;
    this.lineIntervalNanos = lineInterval.toNanos();
    this.nanoTime = nanoTime;
  }

  /** Returns true if standard output is a terminal that can redraw a line. */
  static boolean onTerminal() {
    Console console = System.console();
    if (console == null || "dumb".equals(System.getenv("TERM"))) {
      return false;
    }
    try { // since Java 22 a console object may exist without a terminal
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (ReflectiveOperationException beforeJava22) {
      return true;
    }
  }

  @Override
  public void begin(String phase, long examples) {
    begin(phase, examples, "examples");
  }

  @Override
  public void begin(String phase, long examples, String unit) {
    end();
    this.phase = phase;
    this.unit = unit;
    total = examples;
    share = null;
    shareBegan = Double.NaN;
    done = 0;
    behind = 0;
    metrics.clear();
    beganAt = nanoTime.getAsLong();
    lastLineAt = beganAt;
    if (terminal) {
      if (!introduced && !part.get().isEmpty()) {
        introduced = true;
        out.println(name + ": the progress of " + part.get() + "; the result counts all");
      }
      // The metrics text is our own, short enough for 80 columns, and the same as in the lines.
      bar = new ProgressBarBuilder().setTaskName(phase).setInitialMax(examples).setStyle(ProgressBarStyle.ASCII)
          .setUpdateIntervalMillis(BAR_INTERVAL_MS).hideEta().setConsumer(new ConsoleProgressBarConsumer(out))
          .setUnit(examples < THOUSANDS_FROM ? "" : "k", examples < THOUSANDS_FROM ? 1 : 1000).build();
    }
  }

  @Override
  public void behind(long amount) {
    behind = amount;
    done = amount;
    if (bar != null) {
      bar.stepTo(amount);
    }
  }

  @Override
  public void resize(long amount) {
    total = amount;
    if (bar != null) {
      bar.maxHint(amount);
    }
  }

  @Override
  public void share(DoubleSupplier ofPhase) {
    share = ofPhase;
  }

  @Override
  public void advance(long examples) {
    done += examples;
    long now = nanoTime.getAsLong();
    if (share != null && Double.isNaN(shareBegan)) { // work of an earlier incarnation took no time of this one
      shareBegan = share.getAsDouble();
      shareBeganAt = now;
    }
    if (bar != null) {
      bar.stepBy(examples);
      if (now - lastLineAt >= TimeUnit.MILLISECONDS.toNanos(BAR_INTERVAL_MS)) {
        lastLineAt = now;
        bar.setExtraMessage(figures(now, null).replace(",", ""));
      }
    } else if (phase != null && now - lastLineAt >= lineIntervalNanos) {
      lastLineAt = now;
      out.println(summary(now, null));
    }
  }

  @Override
  public void metric(String name, double value) {
    metrics.put(name, value);
  }

  @Override
  public void line(String text) {
    if (bar != null) {
      out.print("\r\u001b[2K"); // the bar redraws itself below the line
    }
    out.println(text);
  }

  @Override
  public void end() {
    total = Math.min(total, done); // the last batches of a complete phase may be smaller, or omitted
    if (bar != null && total >= 0) {
      bar.maxHint(total);
    }
    finish("done in");
  }

  private void finish(String how) {
    if (phase == null) {
      return;
    }
    if (bar != null) {
      bar.setExtraMessage(figures(nanoTime.getAsLong(), null).replace(",", ""));
      bar.close();
      bar = null;
    }
    out.println(summary(nanoTime.getAsLong(), how));
    phase = null;
  }

  @Override
  public void close() {
    finish("stopped after");
    out.flush();
  }

  /**
   * Returns a line, for example
   * {@code census train, trainer 0 of 2: 12800/32561 examples, 9800/s, loss 0.3312, auc 0.9071, 2 s left}.
   */
  private String summary(long now, String over) {
    String whose = part.get();
    return name + " " + phase + (whose.isEmpty() ? "" : ", " + whose) + ": " + (total > 0 ? done + "/" + total : String.valueOf(done)) + " " + unit
        + ", " + figures(now, over);
  }

  /** Returns rate, metrics, and the time left or taken. */
  private String figures(long now, String over) {
    double seconds = Math.max(1e-9, (now - beganAt) / 1e9);
    double rate = (done - behind) / seconds;
    StringJoiner text = new StringJoiner(", ");
    text.add(String.format(Locale.ROOT, "%.0f/s", rate));
    metrics.forEach((metric, value) -> text.add(String.format(Locale.ROOT, "%s %.4f", metric, value)));
    if (over != null) {
      text.add(String.format(Locale.ROOT, "%s %.1f s", over, seconds));
    } else {
      double left = Math.min(total > done && rate > 0 ? (total - done) / rate : Double.POSITIVE_INFINITY, leftByShare(now));
      if (left < Double.POSITIVE_INFINITY) {
        text.add(String.format(Locale.ROOT, "%.0f s left", Math.ceil(left)));
      }
    }
    return text.toString();
  }

  /**
   * Returns the time left by the share that is done, s; infinite if nothing is known, or all is read but not yet
   * trained.
   */
  private double leftByShare(long now) {
    double part = share == null ? Double.NaN : share.getAsDouble();
    double gained = part - shareBegan;
    return gained > 0 && part < 1 ? (now - shareBeganAt) / 1e9 * (1 - part) / gained : Double.POSITIVE_INFINITY;
  }
}
