package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.fleet.launch.plan.LaunchNotes;
import io.regatta.fleet.launch.plan.LaunchOptions;
import io.regatta.fleet.launch.plan.LaunchPlan;
import io.regatta.fleet.launch.plan.LaunchedGpus;
import io.regatta.fleet.launch.plan.LaunchedJob;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.node.process.Proxies;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** A launch from its options to its exit status. Called by the main thread. */
public final class Launches {

  private static final int DONE = 0;
  private static final int FAILED = 1;

  private Launches() {}

  /**
   * Plans the processes, starts them and stays with them.
   *
   * @param job known properties of the program
   * @param main class of Regatta's command line, which runs job files
   * @param quiet whether the options are not printed
   * @param check refuses settings that a process with the given environment would refuse before it does anything
   * @param use of servers that are started here by trainers of other machines
   * @return exit status: 0 done, 1 a process failed, 130 after Ctrl-C, 143 after SIGTERM
   */
  public static int run(LaunchOptions options, LaunchedJob job, String main, boolean quiet,
      Consumer<Map<String, String>> check, ServerUse use, PrintWriter out) {
    try (ReservedPorts ports = new ReservedPorts()) {
      List<String> command = ChildCommand.of(options.program(), options.arguments(), main);
      LaunchedGpus gpus = LaunchedGpus.here(options.gpus(), System.getenv("CUDA_VISIBLE_DEVICES"), Gpus.all().size());
      LaunchPlan plan = LaunchPlan.of(options, job, new ThisMachine(options.host(), ports), gpus);
      String runId = RunIds.ofLaunch(System.getenv());
      Path logs = Path.of(options.logDir());
      try (JobToken token = plan.isWhole() ? JobToken.in(logs, out) : null) {
        UnaryOperator<Map<String, String>> common = variables -> RunIds.with(runId, token == null ? variables
            : token.with(variables));
        Function<LaunchPlan.Planned, Call> calls = process -> call(process, command, main, job.settings(), common);
        check(plan, common, check);
        Signals signals = Signals.caught(); // first: a signal must not end this JVM while the token's file is there
        announce(plan, options, job, quiet, out);
        if (token != null) {
          token.write();
        }
        Launcher launcher = new Launcher(plan, calls, logs, out, System.out, use);
        launcher.continueWithoutLost(job.continues());
        return stay(launcher, signals, out);
      }
    }
  }

  /** Refuses a setting here, before anything is started, that all processes would refuse, each in its own log. */
  private static void check(LaunchPlan plan, UnaryOperator<Map<String, String>> common,
      Consumer<Map<String, String>> check) {
    for (LaunchedRole role : LaunchedRole.parts()) {
      plan.of(role).stream().limit(1).map(process -> common.apply(process.environment()))
          .forEach(variables -> check.accept(Launched.environment(System.getenv(), variables)));
    }
  }

  /**
   * Returns the call of a process.
   *
   * @param settings arguments of the program that the rendezvous takes as well
   * @param common adds the variables that every process of the job has
   */
  private static Call call(LaunchPlan.Planned process, List<String> command, String main, List<String> settings,
      UnaryOperator<Map<String, String>> common) {
    if (process.role() != LaunchedRole.MASTER) {
      return new Call(command, common.apply(process.environment()), false);
    }
    List<String> arguments = new ArrayList<>(List.of("master", process.environment().get("PADDLE_MASTER")));
    arguments.addAll(settings);
    return new Call(ChildCommand.regatta(main, arguments.toArray(String[]::new)), common.apply(Map.of()), true);
  }

  /** Announces what is to be started. */
  public static void announce(LaunchPlan plan, LaunchOptions options, LaunchedJob job, boolean quiet, PrintWriter out) {
    if (!quiet) {
      out.println(options.block());
    }
    Proxies.note(System.getenv()).ifPresent(note -> out.println(note + ", and none reaches what is started"));
    out.println((options.jobId().equals(LaunchOptions.JOB_ID) ? "" : options.jobId() + ": ") + plan.why());
    LaunchNotes.of(options, job, plan).forEach(note -> out.println("regatta: " + note));
    out.flush();
  }

  /** Starts the processes and stays until they have ended, for any reason. */
  public static int stay(Launcher launcher, Signals signals, PrintWriter out) {
    signals.to(launcher::interrupt);
    if (signals.any()) {
      return stopped(signals, "before anything was started", out);
    }
    launcher.start();
    try {
      return launcher.await() ? DONE : FAILED;
    } catch (Cancelled stopped) {
      return stopped(signals, "all processes have ended", out);
    }
  }

  /** Reports which signal has ended the launch, and with which result; returns the exit status. */
  public static int stopped(Signals signals, String how, PrintWriter out) {
    out.println("regatta: stopped by " + signals.words() + ", " + how);
    out.flush();
    return signals.status();
  }
}
