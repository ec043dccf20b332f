package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Cancelled;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * Starts the processes of a job on this machine and watches them until the last has ended. With parameter servers the job is
 * done when all workers have exited with 0; then the servers are ended. A process that fails ends all others, and its last
 * lines are shown. Owned by the main thread, but {@link #interrupt}.
 */
public final class Launcher {

  /** What a process may take to end in order when it is asked to; it promises to do so within four seconds. */
  private static final long GRACE_MILLIS = 8000;
  private static final int TAIL_LINES = 20;
  private static final int BAD_INPUT = 2;
  /** Signals after which nobody is waited for. */
  private static final int IMPATIENT = 2;

  /** What the main thread waits for: a process that has ended, or a signal. */
  private record Event(Launched ended, boolean signal) {}

  private final LaunchPlan plan;
  private final Function<LaunchPlan.Planned, Call> calls;
  private final Path logs;
  private final PrintWriter out;
  private final OutputStream echo;
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private final List<Launched> running = new ArrayList<>();
  private final Map<String, Integer> restarts = new HashMap<>();
  private final AtomicInteger signals = new AtomicInteger();

  /**
   * @param calls how each process is called
   * @param out for the launcher's own lines
   * @param echo gets what the first worker prints
   */
  Launcher(LaunchPlan plan, Function<LaunchPlan.Planned, Call> calls, Path logs, PrintWriter out, OutputStream echo) {
    this.plan = plan;
    this.calls = calls;
    this.logs = logs;
    this.out = out;
    this.echo = echo;
  }

  /**
   * A signal: the first ends all in order, the next one at once. Any thread.
   */
  void interrupt() {
    signals.incrementAndGet(); // handlers run on threads of their own, and may at the same time
    events.add(new Event(null, true));
  }

  /** Starts all processes, or none: those that run are ended if one cannot be started. */
  void start() {
    prepareLogs();
    try {
      plan.of(LaunchedRole.MASTER).forEach(master -> start(master, false));
      startAll(LaunchedRole.SERVER);
      startAll(LaunchedRole.WORKER);
    } catch (RuntimeException e) {
      end(new ArrayList<>(running));
      throw e;
    }
  }

  /**
   * Stays with the processes until the job has ended.
   *
   * @return whether all went well; a failure has been shown
   * @throws Cancelled if a signal has ended it
   */
  boolean await() {
    try {
      say(plan.collective() ? "details abouts PADDLE_TRAINER_ENDPOINTS can be found in " + logs + "/endpoints.log, and detail "
          + "running logs maybe found in " + logs + "/workerlog.0"
          : "Please check servers and workers logs in " + logs + "/workerlog.* and " + logs + "/serverlog.*");
      return watch();
    } finally {
      end(new ArrayList<>(running));
    }
  }

  private void prepareLogs() {
    try {
      Files.createDirectories(logs);
      if (plan.collective()) {
        Files.writeString(logs.resolve("endpoints.log"), "PADDLE_TRAINER_ENDPOINTS: \n" + String.join("\n", plan.endpoints())
            + "\n");
      }
    } catch (IOException e) {
      throw new InvalidInput("--log_dir " + logs + " cannot be written to: " + e.getMessage());
    }
  }

  private void startAll(LaunchedRole role) {
    List<LaunchPlan.Planned> all = plan.of(role);
    if (all.isEmpty()) {
      return;
    }
    say("Local " + (plan.collective() ? "" : role.word + " ") + "start " + all.size() + " processes. First process distributed "
        + "environment info (Only For Debug): ");
    say(EnvironmentTable.of(all.get(0).environment()));
    for (LaunchPlan.Planned each : all) {
      start(each, false);
    }
  }

  private void start(LaunchPlan.Planned each, boolean again) {
    Launched started = Launched.start(each, calls.apply(each), logs, each.role() == LaunchedRole.WORKER && each.local() == 0 ? echo
        : null, again);
    running.add(started);
    started.process().onExit().thenRun(() -> events.add(new Event(started, false)));
  }

  private boolean watch() {
    boolean workers = !plan.of(LaunchedRole.WORKER).isEmpty();
    while (!running.isEmpty()) {
      Event event = next();
      if (event.signal()) {
        throw new Cancelled("the launcher was stopped before the end of the job");
      }
      Launched ended = event.ended();
      running.remove(ended);
      ended.awaitLog();
      boolean early = workers && ended.planned().role() != LaunchedRole.WORKER;
      if (!early && startsAgain(ended)) {
        continue;
      }
      if (ended.process().exitValue() != 0 || early) {
        failed(ended);
        return false;
      }
      if (workers && running.stream().noneMatch(process -> process.planned().role() == LaunchedRole.WORKER)) {
        break;
      }
    }
    if (plan.of(LaunchedRole.SERVER).isEmpty()) {
      end(new ArrayList<>(running)); // the master, if it is here: it waits until those of other machines have left
      running.clear();
    } else if (!running.isEmpty()) {
      say("all workers exit, going to finish parameter server");
      end(new ArrayList<>(running));
      running.clear();
      say("all parameter server are killed");
    }
    return true;
  }

  /** A trainer that fails is started again as often as the plan says; what it says of its input would be the same. */
  private boolean startsAgain(Launched ended) {
    int status = ended.process().exitValue();
    int before = restarts.getOrDefault(ended.name(), 0);
    if (status == 0 || status == BAD_INPUT || before >= plan.restarts()) {
      return false;
    }
    restarts.put(ended.name(), before + 1);
    say("regatta: " + ended.name() + " " + ended.ending() + ", and is started again: " + (before + 1) + " of " + plan.restarts()
        + " times (--max_restart)");
    start(ended.planned(), true);
    return true;
  }

  private void failed(Launched ended) {
    if (plan.collective()) {
      say("ABORT!!! Out of all " + plan.trainers() + " trainers, the trainer process with rank=["
          + ended.planned().environment().getOrDefault("PADDLE_TRAINER_ID", Integer.toString(ended.planned().local()))
          + "] was aborted. Please check its log.");
    }
    say("regatta: " + ended.name() + " " + ended.ending() + ": the others are stopped. The end of " + ended.log() + ":");
    LogTail.of(ended.log(), TAIL_LINES).forEach(line -> say("  " + line));
  }

  private Event next() {
    try {
      return events.take();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Cancelled("the launcher was interrupted");
    }
  }

  /** Ends workers, then servers: each gets a signal to end in order, and after a while, or at a second signal to us, another. */
  private void end(List<Launched> processes) {
    for (LaunchedRole role : List.of(LaunchedRole.WORKER, LaunchedRole.SERVER, LaunchedRole.MASTER)) {
      List<Launched> some = processes.stream().filter(process -> process.planned().role() == role).toList();
      some.forEach(Launched::terminate);
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(GRACE_MILLIS);
      some.forEach(process -> awaitEnd(process, deadline));
    }
  }

  private void awaitEnd(Launched process, long deadline) {
    while (process.process().isAlive() && signals.get() < IMPATIENT && deadline - System.nanoTime() > 0) {
      try {
        Event event = events.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS); // a process that ends, or a second signal
        if (event == null) {
          break;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    if (process.process().isAlive()) {
      say("regatta: " + process.name() + " does not end, and is killed");
      process.kill();
    }
    process.awaitLog();
  }

  private void say(String line) {
    out.println(line);
    out.flush();
  }
}
