package io.regatta.load.process;

import io.regatta.protocol.memory.DirectMemory;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The peaks of a worker's memory between a beginning and an end: buffers of the pool in use, sampled every few
 * milliseconds, and resident pages, counted by the kernel. Used by the worker's main thread.
 */
public final class MemoryWatch {
  private static final long INTERVAL_MILLIS = 10;
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path RESET_PEAK = Path.of("/proc/self/clear_refs");

  private final Vertx vertx;
  private final AtomicLong peak = new AtomicLong();
  private long timer;
  private long buffersBefore;
  private long residentBefore;

  public MemoryWatch(Vertx vertx) {
    this.vertx = vertx;
  }

  /** Forgets the peaks so far. */
  public void begin() throws IOException {
    buffersBefore = buffers();
    peak.set(buffersBefore);
    if (Files.isWritable(RESET_PEAK)) {
      Files.writeString(RESET_PEAK, "5");
    }
    residentBefore = kilobytes("VmRSS:");
    timer = vertx.setPeriodic(INTERVAL_MILLIS, t -> peak.accumulateAndGet(buffers(), Math::max));
  }

  /** Returns the peaks above the level at the beginning: {@code buffers} and {@code resident}, in bytes. */
  public JsonObject end() throws IOException {
    vertx.cancelTimer(timer);
    return new JsonObject().put("buffers", peak.accumulateAndGet(buffers(), Math::max) - buffersBefore)
        .put("resident", kilobytes("VmHWM:") - residentBefore);
  }

  private static long buffers() {
    return DirectMemory.ALLOCATOR.pinnedBytes();
  }

  /** Returns 0 if there is no such file. */
  private static long kilobytes(String key) throws IOException {
    return !Files.isReadable(STATUS) ? 0 : Files.readAllLines(STATUS).stream().filter(l -> l.startsWith(key))
        .mapToLong(l -> Long.parseLong(l.replaceAll("\\D", "")) << 10).findFirst().orElse(0);
  }
}
