package io.regatta.trainer.data;

import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs the rate of a load and the time left, every few seconds. Used by the thread that waits for the load. */
public final class LoadLog implements LoadListener {

  private static final Logger LOG = LoggerFactory.getLogger(LoadLog.class);
  private static final long INTERVAL_NANOS = 5_000_000_000L;
  private static final double MEGABYTE = 1e6;

  private final String name;
  private final long begin = System.nanoTime();
  private long logged = begin;

  public LoadLog(String name) {
    this.name = name;
  }

  @Override
  public void loaded(long bytes, long all) {
    long now = System.nanoTime();
    if (now - logged >= INTERVAL_NANOS && bytes > 0) {
      logged = now;
      LOG.info(text(bytes, all, (now - begin) * 1e-9));
    }
  }

  public String text(long bytes, long all, double seconds) {
    double rate = bytes / seconds;
    return String.format(Locale.ROOT, "loading %s data: %.0f/%.0f MB, %.1f MB/s, %.0f s left", name, bytes / MEGABYTE,
        all / MEGABYTE, rate / MEGABYTE, Math.ceil((all - bytes) / rate));
  }
}
