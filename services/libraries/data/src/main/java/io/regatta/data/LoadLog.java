package io.regatta.data;

import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Stopwatch;
import io.regatta.core.progress.LoadListener;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A log of the rate of a load and the time left, every few seconds. Used by the thread that waits for the load. */
public final class LoadLog implements LoadListener {

  private static final Logger LOG = LoggerFactory.getLogger(LoadLog.class);
  private static final long INTERVAL_NANOS = 5_000_000_000L;
  private static final double MEGABYTE = 1e6;

  private final String name;
  private final Clock clock;
  private final Stopwatch loading;
  private Stopwatch logged;

  /** Creates a log for a load that begins now. */
  public LoadLog(Clock clock, String name) {
    this.clock = clock;
    this.name = name;
    loading = Stopwatch.start(clock);
    logged = loading;
  }

  @Override
  public void loaded(long bytes, long all) {
    if (logged.nanos() >= INTERVAL_NANOS && bytes > 0) {
      logged = Stopwatch.start(clock);
      LOG.info(text(bytes, all, loading.seconds()));
    }
  }

  public String text(long bytes, long all, double seconds) {
    double rate = bytes / seconds;
    return String.format(Locale.ROOT, "loading %s data: %.0f/%.0f MB, %.1f MB/s, %.0f s left", name, bytes / MEGABYTE,
        all / MEGABYTE, rate / MEGABYTE, Math.ceil((all - bytes) / rate));
  }
}
