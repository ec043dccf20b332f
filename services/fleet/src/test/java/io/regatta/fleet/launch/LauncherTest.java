package io.regatta.fleet.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A launcher over processes of sh. */
class LauncherTest {

  @TempDir
  Path dir;
  private final StringWriter said = new StringWriter();

  private Launcher launcher(OutputStream echo, String script) {
    LaunchPlan plan = new LaunchPlan(false, "", List.of(new LaunchPlan.Planned(LaunchedRole.WORKER, 0, Map.of())), List.of(), 1, 0);
    return new Launcher(plan, process -> new Call(List.of("sh", "-c", script), Map.of(), false), dir, new PrintWriter(said), echo);
  }

  @Test
  @Timeout(20)
  void two_signals_at_the_same_moment_end_at_once_what_does_not_end_by_one() throws Exception {
    CountDownLatch ready = new CountDownLatch(1);
    Launcher launcher = launcher(new OutputStream() {
      @Override
      public void write(int b) {
        ready.countDown();
      }
    }, "trap '' TERM; echo ready; exec sleep 60");
    launcher.start();
    assertThat(ready.await(10, TimeUnit.SECONDS)).isTrue();
    Thread other = new Thread(launcher::interrupt);
    other.start();
    launcher.interrupt();
    other.join();
    long began = System.nanoTime();
    assertThatThrownBy(launcher::await).isInstanceOf(Cancelled.class);
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began)).as("ms, of 8000 that one signal would leave it").isLessThan(4000);
    assertThat(said.toString()).contains("worker 0 does not end, and is killed");
  }
}
