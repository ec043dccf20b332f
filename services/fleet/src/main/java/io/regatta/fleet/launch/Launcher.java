package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.fleet.launch.plan.LaunchPlan;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.fleet.role.WordList;
import io.regatta.protocol.vertx.SystemClock;
import java.io.OutputStream;
import java.io.PrintWriter;
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
import java.util.stream.Stream;

/**
 * A launcher, which starts the processes of a job on this machine and watches them until the last has ended. With
 * parameter servers the job is done when all workers have exited with 0; then auxiliary services and servers are ended.
 * A process that fails ends all others, and its last lines are shown. An auxiliary service that fails does not, as long
 * as the job has another one that takes its place. Owned by the main thread, except {@link #interrupt}.
 */
public final class Launcher {

  private static final int TAIL_LINES = 20;
  /** Time after which a wait for other machines is worth a line. */
  private static final long MOMENT_MILLIS = 1000;
  private static final int BAD_INPUT = 2;

  /** An event for the main thread: a process that has ended, or one of the constants. */
  private record Event(Launched ended) {
    static final Event SIGNAL = new Event(null);
    /** Trainers of other machines have left the servers. */
    static final Event LEFT = new Event(null);
  }

  private final LaunchPlan plan;
  private final Function<LaunchPlan.Planned, Call> calls;
  private final Path logs;
  private final PrintWriter out;
  private final OutputStream echo;
  private final ServerUse use;
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private final List<Launched> running = new ArrayList<>();
  /** Log directory; set by the start. */
  private LaunchLogs held;
  private final Map<String, Integer> restarts = new HashMap<>();
  /** Workers that failed and without which the others continue to train; owned by the main thread. */
  private final List<Launched> lost = new ArrayList<>();
  /** Auxiliary services that failed while others took their place. */
  private final List<Launched> lostAuxiliaries = new ArrayList<>();
  private boolean continues;
  private int endedWell;
  private final AtomicInteger signals = new AtomicInteger();
  private final OrderlyEnd ending = new OrderlyEnd(SystemClock.get(), events, signals, this::say);

  /**
   * Creates a launcher.
   *
   * @param calls returns the command of each process
   * @param out for the launcher's own lines
   * @param echo gets what the first worker prints
   * @param use of servers by other machines' trainers; null: the plan has none of these
   */
  public Launcher(LaunchPlan plan, Function<LaunchPlan.Planned, Call> calls, Path logs, PrintWriter out, OutputStream echo, ServerUse use) {
    this.plan = plan;
    this.calls = calls;
    this.logs = logs;
    this.out = out;
    this.echo = echo;
    this.use = use;
  }

  /**
   * Lets workers continue without one that fails, as long as another one trains or has ended well. To be called before
   * the start.
   */
  void continueWithoutLost(boolean allowed) {
    continues = allowed;
  }

  /** Handles a signal: the first ends all processes in order, the next one at once. Any thread. */
  void interrupt() {
    signals.incrementAndGet(); // handlers run on threads of their own, and may at the same time
    events.add(Event.SIGNAL);
  }

  /** Starts all processes, or none: those that run are ended if one cannot be started. */
  void start() {
    held = LaunchLogs.begin(logs, plan);
    held.lines().forEach(this::say);
    try {
      plan.of(LaunchedRole.MASTER).forEach(master -> start(master, false));
      LaunchedRole.parts().forEach(this::startAll);
    } catch (RuntimeException e) {
      ending.of(running);
      held.close();
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
      say(plan.collective() ? "details abouts " + plan.placesName() + " can be found in " + logs + "/endpoints.log, and detail "
          + "running logs maybe found in " + logs + "/workerlog.0"
          : "Please check " + withAuxiliaries(List.of("servers", "workers"), LaunchedRole::word) + " logs in "
          + withAuxiliaries(List.of(logs(LaunchedRole.WORKER), logs(LaunchedRole.SERVER)), this::logs));
      return watch();
    } finally {
      ending.of(running);
      held.close();
    }
  }

  private String logs(LaunchedRole role) {
    return logs + "/" + role.log() + ".*";
  }

  /**
   * Returns these words and one for each kind of auxiliary services, as in {@code servers, workers and heter_worker}.
   */
  private String withAuxiliaries(List<String> words, Function<LaunchedRole, String> word) {
    return WordList.and(Stream.concat(words.stream(), plan.auxiliaries().stream().map(word)).toList());
  }

  private void startAll(LaunchedRole role) {
    List<LaunchPlan.Planned> all = plan.of(role);
    if (all.isEmpty()) {
      return;
    }
    say("Local " + (plan.collective() ? "" : role.word() + " ") + "start " + all.size()
        + " processes. First process distributed "
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
    started.onEnd(() -> events.add(new Event(started)));
  }

  private boolean watch() {
    boolean workers = !plan.of(LaunchedRole.WORKER).isEmpty();
    while (!running.isEmpty()) {
      Event event = next();
      Launched ended = event.ended();
      running.remove(ended);
      ended.awaitLog();
      if (continuesWithoutAuxiliary(ended)) {
        continue;
      }
      boolean early = workers && ended.planned().role() != LaunchedRole.WORKER;
      if (!early && startsAgain(ended)) {
        continue;
      }
      if (early || ended.process().exitValue() != 0 && !continuesWithout(ended)) {
        failed(ended);
        return false;
      }
      endedWell += ended.process().exitValue() == 0 ? 1 : 0;
      if (workers && running(LaunchedRole.WORKER).isEmpty()) {
        break;
      }
    }
    lost.forEach(worker -> say("regatta: WARNING: the job has ended without " + worker.name() + ", whose part of the data was not trained to "
        + "its end (on_trainer_lost: continue); see " + worker.log()));
    if (LaunchedRole.parts().stream().allMatch(role -> role == LaunchedRole.WORKER || plan.of(role).isEmpty())) {
      return masterEnds();
    }
    return (running.isEmpty() || serversEnd()) && haveEndedInOrder() && (workers || lostAuxiliaries.isEmpty());
  }

  /**
   * Ends auxiliary services, then servers, when no trainer of any machine uses them; returns false if one has failed
   * before.
   */
  private boolean serversEnd() {
    if (plan.isUsedFromElsewhere() && !othersLeave()) {
      return false;
    }
    say("all workers exit, going to finish " + withAuxiliaries(List.of("parameter server"), LaunchedRole::word)
        + (plan.auxiliaries().isEmpty() ? "" : "."));
    for (LaunchedRole auxiliary : LaunchedRole.inOrderOfEnd().stream().filter(LaunchedRole::isAuxiliary).toList()) {
      List<Launched> auxiliaries = running(auxiliary);
      ending.of(auxiliaries);
      if (!auxiliaries.isEmpty()) {
        say("all " + auxiliary.word() + " are killed");
      }
    }
    ending.of(running);
    if (ending.isImpatient()) {
      throw new Cancelled("the launcher was stopped before its parameter servers had ended in order");
    }
    if (!running(LaunchedRole.SERVER).isEmpty()) {
      say("all parameter server are killed");
    }
    return true;
  }

  private List<Launched> running(LaunchedRole role) {
    return running.stream().filter(process -> process.planned().role() == role).toList();
  }

  /**
   * Checks the processes that end after the workers. They may still fail, as a server that cannot write its last
   * snapshot does.
   */
  private boolean haveEndedInOrder() {
    List<Launched> failures = running.stream().filter(process -> !process.hasEndedInOrder()).toList();
    running.clear();
    failures.forEach(failure -> shows(failure, " when all workers had ended well"));
    return failures.isEmpty();
  }

  /**
   * Ends the master, if it is here. It waits until the trainers of other machines have left, and its log names them.
   */
  private boolean masterEnds() {
    running.forEach(Launched::terminate);
    List<Launched> masters = List.copyOf(running);
    boolean told = false;
    while (!running.isEmpty()) {
      Event event = told ? next() : next(MOMENT_MILLIS);
      if (event == null) {
        told = true;
        say("the master stays until the trainers of other machines have left, see " + running.get(0).log()
            + " (Ctrl-C ends it)");
      } else {
        running.remove(event.ended());
        event.ended().awaitLog();
      }
    }
    running.addAll(masters);
    return haveEndedInOrder();
  }

  /**
   * Waits until the trainers of other machines have left the servers and auxiliary services; returns false if one of
   * these has failed before. Auxiliary services then end by themselves.
   */
  private boolean othersLeave() {
    if (plan.of(LaunchedRole.SERVER).isEmpty()) {
      say("all workers of this machine exit; its " + WordList.and(LaunchedRole.auxiliaries().stream()
          .filter(auxiliary -> !plan.of(auxiliary).isEmpty()).map(auxiliary -> auxiliary.called() + "s").toList())
          + " stay until those of other machines have left them (Ctrl-C ends them)");
      return auxiliariesEnd();
    }
    say("all workers of this machine exit; its parameter servers stay until those of other machines have left them (Ctrl-C ends them)");
    try (ServerUse.Asking asking = use.begin(plan.serversHere(), plan.rendezvousHere(), this::say, () -> events.add(Event.LEFT))) {
      for (Event event = next(); event != Event.LEFT; event = next()) {
        if (!hasEndedWithJob(event.ended())) {
          return false;
        }
      }
    }
    return auxiliariesEnd();
  }

  /** Waits until the auxiliary services that end with the job have ended; returns false if one has failed. */
  private boolean auxiliariesEnd() {
    while (running.stream().anyMatch(process -> !process.planned().role().lifetime().isEmpty())) {
      if (!hasEndedWithJob(next().ended())) {
        return false;
      }
    }
    return true;
  }

  /** Shows the failure of a process, unless it is an auxiliary service that has ended well: then returns true. */
  private boolean hasEndedWithJob(Launched ended) {
    running.remove(ended);
    ended.awaitLog();
    boolean well = ended.planned().role().isAuxiliary() && ended.process().exitValue() == 0;
    if (!well) {
      failed(ended);
    }
    return well;
  }

  /**
   * Starts a trainer that has failed again, as often as the plan allows; one that refused its input would refuse it
   * again.
   */
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

  /**
   * Lets the others continue without a worker that has failed, if the job allows it, and returns whether it does. It
   * does not after bad input, which the others would refuse as well.
   */
  private boolean continuesWithout(Launched ended) {
    boolean othersTrain = running.stream().anyMatch(process -> process.planned().role() == LaunchedRole.WORKER);
    if (!continues || ended.planned().role() != LaunchedRole.WORKER || ended.process().exitValue() == BAD_INPUT
        || !othersTrain && endedWell == 0) {
      return false;
    }
    lost.add(ended);
    say("regatta: " + ended.name() + " " + ended.ending() + "; the others continue without it (on_trainer_lost: continue)");
    return true;
  }

  /**
   * Lets the job continue without an auxiliary service that has ended, if it has another one to take its place, and
   * returns whether it does. It does not after bad input, which the others would refuse as well.
   */
  private boolean continuesWithoutAuxiliary(Launched ended) {
    int status = ended.process().exitValue();
    LaunchedRole role = ended.planned().role();
    if (!role.isAuxiliary() || status == BAD_INPUT) {
      return false;
    }
    if (status == 0 && plan.isUsedFromElsewhere()) {
      return true; // with the job of other machines' trainers
    }
    long lostBefore = lostAuxiliaries.stream().filter(auxiliary -> auxiliary.planned().role() == role).count();
    if (role.whenLost().isEmpty() || plan.count(role) - lostBefore <= 1) {
      return false;
    }
    lostAuxiliaries.add(ended);
    say("regatta: " + ended.name() + " " + ended.ending() + "; " + role.whenLost() + ". The end of " + ended.log()
        + ":");
    LogTail.of(ended.log(), TAIL_LINES).forEach(line -> say("  " + line));
    return true;
  }

  private void failed(Launched ended) {
    if (ended.planned().role() == LaunchedRole.WORKER && plan.collective()) {
      say("ABORT!!! Out of all " + plan.trainers() + " trainers, the trainer process with rank=["
          + ended.planned().environment().getOrDefault("PADDLE_TRAINER_ID", "given when it joined, see its log")
          + "] was aborted. Please check its log.");
    }
    shows(ended, ": the others are stopped");
  }

  private void shows(Launched ended, String when) {
    say("regatta: " + ended.name() + " " + ended.ending() + when + ". The end of " + ended.log() + ":");
    LogTail.of(ended.log(), TAIL_LINES).forEach(line -> say("  " + line));
  }

  private Event next() {
    return next(Long.MAX_VALUE);
  }

  /** Returns the next event, or null if there is none within the time. A signal ends the wait, and all processes. */
  private Event next(long millis) {
    try {
      Event event = events.poll(millis, TimeUnit.MILLISECONDS);
      if (event == Event.SIGNAL) {
        say("regatta: all processes are asked to end; a second signal kills them");
        throw new Cancelled("the launcher was stopped before the end of the job");
      }
      return event;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Cancelled("the launcher was interrupted");
    }
  }

  private void say(String line) {
    out.println(line);
    out.flush();
  }
}
