package io.regatta.node.testing;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.Inflater;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * An extension that fails a test during which Vert.x's BlockedThreadChecker warned about an event loop. Use with
 * {@code @ExtendWith(BlockedLoopGuard.class)}.
 *
 * <p>On a crowded machine a loop can stand still without a fault of its own. A warning is ignored in two cases. First,
 * if the loop was running Java code or loading a class (no wait, no other native call) and got less than half
 * of the time in question on a core. Second, if it continues by now and has not been seen to wait. CPU times and the
 * loops' states are sampled every 200 ms on a thread of the guard.
 */
public final class BlockedLoopGuard implements BeforeEachCallback, AfterEachCallback {

  private static final String CHECKER = "io.vertx.core.impl.BlockedThreadChecker";
  private static final Pattern WARNING = Pattern.compile("Thread (.*) has been blocked for (\\d+) ms");
  private static final int KEPT_SAMPLES = 200;
  /** Their native methods compute (those that wait are not RUNNABLE): many run when a class or lambda is first used. */
  private static final List<String> COMPUTE = Stream.of(Class.class, ClassLoader.class, Object.class, System.class, Thread.class,
      Throwable.class, StackTraceElement.class, Inflater.class).map(Class::getName).toList();
  /** Native frames that never wait: they read the bytes of a class, or ask of a socket what that can do at once. */
  private static final List<String> NEVER_WAIT = List.of("java.lang.invoke.", "jdk.internal.misc.Unsafe",
      "io.netty.channel.unix.", "io.netty.channel.epoll.", "sun.nio.ch.SocketChannelImpl");
  private static final String LOADER = "jdk.internal.loader.";
  private static final int CALLERS = 4;
  private static final int FRAMES = 64;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(BlockedLoopGuard.class);

  @Override
  public void beforeEach(ExtensionContext context) {
    Watch watch = new Watch();
    watch.start();
    context.getStore(NAMESPACE).put("watch", watch);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Watch watch = context.getStore(NAMESPACE).remove("watch", Watch.class);
    watch.stop();
    if (!watch.violations.isEmpty()) {
      throw new AssertionError("an event loop was blocked: " + String.join("; ", watch.violations));
    }
  }

  /** @param waits the loop did not idle, nor compute */
  private record Sample(long nanos, long cpuNanos, boolean waits) {}

  /** The record of one test. */
  static final class Watch extends AppenderBase<ILoggingEvent> {
    final List<String> violations = new CopyOnWriteArrayList<>();
    private final Map<Long, Deque<Sample>> samples = new HashMap<>();
    private final ScheduledExecutorService sampler = Executors.newSingleThreadScheduledExecutor(task -> {
      Thread thread = new Thread(task, "blocked-loop-guard");
      thread.setDaemon(true);
      return thread;
    });

    @Override
    public void start() {
      super.start();
      ((Logger) LoggerFactory.getLogger(CHECKER)).addAppender(this);
      sampler.scheduleAtFixedRate(this::sample, 0, 200, TimeUnit.MILLISECONDS);
    }

    @Override
    public void stop() {
      ((Logger) LoggerFactory.getLogger(CHECKER)).detachAppender(this);
      sampler.shutdownNow();
      super.stop();
    }

    private synchronized void sample() {
      long[] loops = Arrays.stream(THREADS.getThreadInfo(THREADS.getAllThreadIds()))
          .filter(thread -> thread != null && thread.getThreadName().contains("eventloop"))
          .mapToLong(ThreadInfo::getThreadId).toArray();
      for (ThreadInfo thread : THREADS.getThreadInfo(loops, FRAMES)) {
        if (thread != null) {
          Deque<Sample> of = samples.computeIfAbsent(thread.getThreadId(), id -> new ArrayDeque<>());
          of.addLast(new Sample(System.nanoTime(), THREADS.getThreadCpuTime(thread.getThreadId()),
              !idle(thread) && !computes(thread)));
          if (of.size() > KEPT_SAMPLES) {
            of.removeFirst();
          }
        }
      }
    }

    @Override
    protected synchronized void append(ILoggingEvent event) {
      Matcher warning = WARNING.matcher(event.getFormattedMessage());
      if (!warning.find() || !warning.group(1).contains("eventloop")) {
        return;
      }
      long blockedNanos = Long.parseLong(warning.group(2)) * 1_000_000;
      List<ThreadInfo> meant = Arrays.stream(THREADS.getThreadInfo(THREADS.getAllThreadIds(), FRAMES))
          .filter(thread -> thread != null && thread.getThreadName().equals(warning.group(1))).toList();
      List<ThreadInfo> busy = meant.stream().filter(thread -> !idle(thread)).toList();
      boolean hasWaited = busy.isEmpty() // it goes on by now
          && meant.stream().anyMatch(thread -> waitedSince(thread, System.nanoTime() - blockedNanos));
      if (hasWaited || busy.stream().anyMatch(thread -> !stolen(thread, blockedNanos))) {
        violations.add(event.getFormattedMessage() + busy.stream()
            .map(thread -> ", " + thread.getThreadState() + " at "
                + Arrays.stream(thread.getStackTrace()).limit(12).toList())
            .collect(Collectors.joining()));
      }
    }

    /** Several Vertx in one JVM have loops of the same name: those that wait for events are not meant. */
    private static boolean idle(ThreadInfo thread) {
      return Arrays.stream(thread.getStackTrace()).limit(3)
          .anyMatch(frame -> frame.getMethodName().toLowerCase(Locale.ROOT).matches(".*(epollwait|select).*"));
    }

    /**
     * Returns true if the caller of the native method never waits: the loop's own frames below are those of its
     * transport as well.
     */
    private static boolean neverWaits(StackTraceElement[] stack) {
      return !stack[0].getMethodName().equals("connect0") && Arrays.stream(stack).limit(CALLERS).map(StackTraceElement::getClassName)
          .anyMatch(name -> NEVER_WAIT.stream().anyMatch(name::startsWith))
          || Arrays.stream(stack).anyMatch(frame -> frame.getClassName().startsWith(LOADER));
    }

    private static boolean computes(ThreadInfo thread) {
      StackTraceElement[] stack = thread.getStackTrace();
      return thread.getThreadState() == Thread.State.RUNNABLE
          && stack.length > 0 && (!stack[0].isNativeMethod() || COMPUTE.contains(stack[0].getClassName()) || neverWaits(stack));
    }

    private boolean waitedSince(ThreadInfo thread, long nanos) {
      return samples.getOrDefault(thread.getThreadId(), new ArrayDeque<>()).stream()
          .anyMatch(sample -> sample.nanos() - nanos >= 0 && sample.waits());
    }

    private boolean stolen(ThreadInfo thread, long blockedNanos) {
      if (thread.getThreadState() == Thread.State.BLOCKED) { // beside a thread that would be done with it
        ThreadInfo holder = thread.getLockOwnerId() < 0 ? null : THREADS.getThreadInfo(thread.getLockOwnerId(), FRAMES);
        return holder == null || holder.getThreadState() != Thread.State.BLOCKED && stolen(holder, blockedNanos);
      }
      long now = System.nanoTime();
      long cpuNow = THREADS.getThreadCpuTime(thread.getThreadId());
      long cpuThen = samples.getOrDefault(thread.getThreadId(), new ArrayDeque<>()).stream()
          .filter(sample -> sample.nanos() <= now - blockedNanos)
          .reduce((first, second) -> second).map(Sample::cpuNanos).orElse(0L);
      return computes(thread) && cpuNow - cpuThen < blockedNanos / 2;
    }
  }
}
