package io.regatta.training.trace;

import io.regatta.core.exchange.ShardLink;
import io.regatta.core.loop.Clock;
import io.regatta.data.Timeline;
import io.regatta.protocol.vertx.SystemClock;
import java.io.FileWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The timeline of some steps of one rank, owned by its session. It collects the spans of the rank's threads. It writes
 * them to a file once replica 0 has made the last of those steps, or at the end of the run. Any thread may use it; a
 * lock is held to add a span and to take all of them out. The file is written without the lock, by the model thread
 * that reaches the end. If it cannot be written, a warning is logged, and the run does not fail. A rank without a
 * timeline costs its threads one volatile read per span.
 */
public final class StepTrace implements Timeline {

  /**
   * An activity that took time.
   *
   * @param track of the activity: {@code replica 0}, a reader thread, {@code shard 1: pull}
   * @param name of the activity, e.g. {@code forward}
   * @param beginNanos by the clock's {@link Clock#nanos}
   * @param endNanos the same
   * @param details further values, by name, e.g. {@code step}, {@code rows}, {@code bytes}
   */
  record Span(String track, String name, long beginNanos, long endNanos, Map<String, Object> details) {}

  private static final Logger LOG = LoggerFactory.getLogger(StepTrace.class);
  private static final StepTrace OFF = new StepTrace(SystemClock.get(), null, 0, 0, 0, 0);
  /** Most spans, of a few hundred bytes each; a step of one replica on two shards makes about fifteen. */
  private static final int SPANS_MAX = 200_000;

  private final Clock clock;
  private final Path file;
  private final int rank;
  private final long fromStep;
  private final long toStep;
  private final int spansMax;
  private volatile boolean on;
  private final Object lock = new Object();
  private List<Span> spans = new ArrayList<>(); // guarded by lock
  private long dropped; // guarded by lock
  private boolean begun; // guarded by lock
  private boolean ended; // guarded by lock

  StepTrace(Clock clock, Path file, int rank, long fromStep, long toStep, int spansMax) {
    this.clock = clock;
    this.file = file;
    this.rank = rank;
    this.fromStep = fromStep;
    this.toStep = toStep;
    this.spansMax = spansMax;
  }

  /** Returns the timeline that keeps nothing. */
  public static StepTrace off() {
    return OFF;
  }

  /** Returns the timeline that a rank of a job is configured to keep. */
  public static StepTrace of(Clock clock, TraceConfig config, int rank, int trainers) {
    if (config.file().isBlank()) {
      return OFF;
    }
    Path file = Path.of(config.file()).toAbsolutePath();
    return new StepTrace(clock, trainers == 1 ? file : of(file, rank), rank, config.fromStep(),
        config.fromStep() + config.steps(), SPANS_MAX);
  }

  /** Returns a rank's file: for {@code trace.json} and rank 1 {@code trace-1.json}. */
  private static Path of(Path file, int rank) {
    String name = file.getFileName().toString();
    int dot = name.lastIndexOf('.');
    return file.resolveSibling(dot <= 0 ? name + "-" + rank
        : name.substring(0, dot) + "-" + rank + name.substring(dot));
  }

  @Override
  public Clock clock() {
    return clock;
  }

  @Override
  public boolean on() {
    return on;
  }

  /** Notes that replica 0 begins a step: spans are recorded from the first step of the timeline to its last. */
  public void begins(long step) {
    if (file == null || on == (step >= fromStep && step < toStep)) {
      return;
    }
    if (on) {
      end();
      return;
    }
    synchronized (lock) {
      begun = true;
      on = !ended;
    }
  }

  @Override
  public void span(String track, String name, long beginNanos, Map<String, Object> details) {
    if (!on) {
      return;
    }
    long end = clock.nanos();
    synchronized (lock) {
      if (spans.size() < spansMax) {
        spans.add(new Span(track, name, beginNanos, end, details));
      } else {
        dropped++;
      }
    }
  }

  /** Returns links that record their pushes and pulls, in shard order; the links themselves without a timeline. */
  public List<? extends ShardLink> of(List<? extends ShardLink> links) {
    if (file == null) {
      return links;
    }
    List<ShardLink> traced = new ArrayList<>(links.size());
    for (int shard = 0; shard < links.size(); shard++) {
      traced.add(new TracedShardLink(links.get(shard), shard, this));
    }
    return traced;
  }

  /** Writes the timeline, or logs why there is none; once, and at the latest when the run is over. May block. */
  public void end() {
    List<Span> taken;
    long lost;
    synchronized (lock) {
      on = false;
      if (file == null || ended) {
        return;
      }
      ended = true;
      taken = begun ? spans : null;
      lost = dropped;
      spans = new ArrayList<>();
    }
    if (taken == null) {
      LOG.warn("trainer {} has written no timeline: its run ended before step {}; lower trace.from_step", rank, fromStep);
      return;
    }
    try {
      write(ChromeTrace.of(clock, rank, taken));
      LOG.info("trainer {} has written the timeline of steps {} to {}, as far as it came, to {}{}", rank, fromStep,
          toStep - 1, file, lost == 0 ? "" : "; the last " + lost + " spans beyond the limit of " + spansMax
              + " are omitted, lower trace.steps");
    } catch (IOException | RuntimeException e) { // at the end of a run, whose own failure must not be hidden
      LOG.warn("trainer {} could not write its timeline to {}: {}; choose another place with --trace", rank, file,
          e.toString());
    }
  }

  /** Writes by a stream that ignores an interrupt of the thread, which happens in a run that is stopped. */
  private void write(String json) throws IOException {
    if (file.getParent() != null) {
      Files.createDirectories(file.getParent());
    }
    try (FileWriter out = new FileWriter(file.toFile(), StandardCharsets.UTF_8)) {
      out.write(json);
    }
  }
}
