package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import sun.misc.Signal;

/** A launch from its options to its exit status. Called by the main thread. */
public final class Launches {

  private static final int DONE = 0;
  private static final int FAILED = 1;
  private static final int SIGNALLED = 128;
  private static final Signal INTERRUPT = new Signal("INT");

  private Launches() {}

  /**
   * Plans the processes, starts them and stays with them.
   *
   * @param job what is known of the program
   * @param main class of Regatta's command line, which runs job files
   * @param quiet whether the options are not printed
   * @return exit status: 0 done, 1 a process failed, 130 after Ctrl-C, 143 after SIGTERM
   */
  public static int run(LaunchOptions options, LaunchedJob job, String main, boolean quiet, PrintWriter out) {
    try (ReservedPorts ports = new ReservedPorts()) {
      List<String> command = ChildCommand.of(options.program(), options.arguments(), main);
      LaunchPlan plan = LaunchPlan.of(options, job, new ThisMachine(options.host(), ports), gpus(options));
      return stay(plan, process -> call(process, command, main, job.settings()), options, quiet, out);
    }
  }

  /** @param settings what the rendezvous takes of the program's arguments */
  private static Call call(LaunchPlan.Planned process, List<String> command, String main, List<String> settings) {
    if (process.role() != LaunchedRole.MASTER) {
      return new Call(command, process.environment(), false);
    }
    List<String> arguments = new ArrayList<>(List.of("meeting-place", process.environment().get("PADDLE_MASTER")));
    arguments.addAll(settings);
    return new Call(ChildCommand.regatta(main, arguments.toArray(String[]::new)), Map.of(), true);
  }

  /** Says what is to be started, starts it, and stays until it has ended, for what reason ever. */
  static int stay(LaunchPlan plan, Function<LaunchPlan.Planned, Call> calls, LaunchOptions options, boolean quiet, PrintWriter out) {
    if (!quiet) {
      out.println(options.block());
    }
    out.println((options.jobId().isEmpty() ? "" : options.jobId() + ": ") + plan.why());
    out.flush();
    Launcher launcher = new Launcher(plan, calls, Path.of(options.logDir()), out, System.out);
    AtomicInteger signal = new AtomicInteger();
    for (Signal each : List.of(INTERRUPT, new Signal("TERM"), new Signal("HUP"))) {
      Signal.handle(each, caught -> {
        signal.compareAndSet(0, caught.getNumber());
        launcher.interrupt();
      });
    }
    launcher.start();
    try {
      return launcher.await() ? DONE : FAILED;
    } catch (Cancelled stopped) {
      out.println("regatta: stopped by " + (signal.get() == INTERRUPT.getNumber() ? "Ctrl-C" : "signal " + signal)
          + ", all processes have ended");
      out.flush();
      return SIGNALLED + signal.get();
    }
  }

  /**
   * NVIDIA's that this process may use: those that it was given, or else those that the system lists.
   *
   * @throws InvalidInput if {@code --gpus} names one that it was not given
   */
  private static int gpus(LaunchOptions options) {
    String visible = System.getenv("CUDA_VISIBLE_DEVICES");
    if (visible != null) {
      List<String> given = LaunchOptions.list(visible);
      for (int gpu : options.gpus().gpus()) {
        if (!given.contains(Integer.toString(gpu))) {
          throw new InvalidInput("--gpus names " + gpu + ", but CUDA_VISIBLE_DEVICES gives this process " + (given.isEmpty()
              ? "none" : String.join(",", given)));
        }
      }
      return given.size();
    }
    return Gpus.all().size();
  }
}
