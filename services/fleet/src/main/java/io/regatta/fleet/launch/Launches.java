package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.File;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
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
   * @param shards shards of each server
   * @param main class of Regatta's command line, which runs job files
   * @param quiet whether the options are not printed
   * @return exit status: 0 done, 1 a process failed, 130 after Ctrl-C, 143 after SIGTERM
   */
  public static int run(LaunchOptions options, int shards, String main, boolean quiet, PrintWriter out) {
    try (ReservedPorts ports = new ReservedPorts()) {
      List<String> command = ChildCommand.of(options.program(), options.arguments(), main);
      LaunchPlan plan = LaunchPlan.of(options, shards, new ThisMachine(options.host(), ports), gpus(options));
      if (!quiet) {
        out.println(options.block());
      }
      out.println((options.jobId().isEmpty() ? "" : options.jobId() + ": ") + plan.why());
      out.flush();
      Launcher launcher = new Launcher(plan, command, Path.of(options.logDir()), out, System.out);
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
  }

  /**
   * NVIDIA's that this process may use: those that it was given, or else those that the system lists. The engine that could
   * tell would have to be started for it.
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
    String[] devices = new File("/dev").list((directory, name) -> name.matches("nvidia\\d+"));
    return devices == null ? 0 : devices.length;
  }
}
