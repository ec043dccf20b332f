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
 * The timeline of some steps of one rank, owned by its session: collects what its threads say that they did, and writes it to
 * a file once replica 0 has made the last of those steps, or at the end of the run. Any thread; a lock is held to add a span
 * and to take all of them out, and the file is written without it, by the model thread that comes to the end. That it cannot be
 * written is a warning: no run fails for it. A rank that keeps none costs its threads one volatile read a span.
 */
public final class StepTrace implements Timeline {

  /**
   * Something that took time.
   *
   * @param track who did it: {@code replica 0}, a reader thread, {@code shard 1: pull}
   * @param name what, e.g. {@code forward}
   * @param beginNanos by the clock's {@link Clock#nanos}
   * @param endNanos the same
   * @param details what else is known, by name, e.g. {@code step}, {@code rows}, {@code bytes}
   */
  record Span(String track, String name, long beginNanos, long endNanos, Map<String, Object> details) {}

  private static final Logger LOG = LoggerFactory.getLogger(StepTrace.class);
  private static final StepTrace OFF = new StepTrace(SystemClock.get(), null, 0, 0, 0, 0);
  /** Some hundred bytes each; a step of one replica on two shards makes about fifteen. */
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

  /** One that keeps nothing. */
  public static StepTrace off() {
    return OFF;
  }

  /** Returns the trace that a rank of a job of so many trainers is configured to keep. */
  public static StepTrace of(Clock clock, TraceConfig config, int rank, int trainers) {
    if (config.file().isBlank()) {
      return OFF;
    }
    Path file = Path.of(config.file()).toAbsolutePath();
    return new StepTrace(clock, trainers == 1 ? file : of(file, rank), rank, config.fromStep(),
        config.fromStep() + config.steps(), SPANS_MAX);
  }

  /** {@code trace.json} of rank 1: {@code trace-1.json}. */
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

  /** Replica 0 begins a step: from the first one of the timeline on spans are kept, until the one behind its last. */
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

  /** Links that tell of their pushes and pulls; the links themselves if no timeline is wanted. In shard order. */
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

  /** Writes what there is, or says why there is nothing; once, and at the latest when the run is over. May block. */
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
              + " are left out, lower trace.steps");
    } catch (IOException | RuntimeException e) { // called where a run ends, whose own failure must be heard
      LOG.warn("trainer {} could not write its timeline to {}: {}; choose another place with --trace", rank, file,
          e.toString());
    }
  }

  /** By a stream that does not mind if the thread is interrupted, as it is in a run that is stopped. */
  private void write(String json) throws IOException {
    if (file.getParent() != null) {
      Files.createDirectories(file.getParent());
    }
    try (FileWriter out = new FileWriter(file.toFile(), StandardCharsets.UTF_8)) {
      out.write(json);
    }
  }
}
