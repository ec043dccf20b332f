package io.regatta.fleet.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.fleet.launch.plan.LaunchPlan;
import io.regatta.fleet.role.LaunchedRole;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A launcher over processes of sh. */
@Timeout(300)
class LauncherTest {

  private static final Map<String, String> SERVER = Map.of("POD_IP", "10.9.9.1", "PADDLE_PORT", "6170", "PADDLE_PSERVERS_IP_PORT_LIST",
      "10.9.9.1:6170,10.9.9.2:6170");

  /** Limit for tests that hang; it measures nothing. */
  private static final int SECONDS = 60;

  @TempDir
  Path dir;
  private final StringWriter said = new StringWriter();

  private static LaunchPlan.Planned planned(LaunchedRole role, Map<String, String> environment) {
    return new LaunchPlan.Planned(role, 0, environment);
  }

  private Launcher launcher(boolean collective, List<LaunchPlan.Planned> processes, Map<LaunchedRole, String> scripts, OutputStream echo,
      ServerUse use) {
    LaunchPlan plan = new LaunchPlan(collective, "", processes, List.of(), 2, 0);
    return new Launcher(plan, process -> new Call(List.of("sh", "-c", scripts.get(process.role())), Map.of(),
        process.role() == LaunchedRole.MASTER), dir, new PrintWriter(said), echo, use);
  }

  @Test
  void two_signals_at_the_same_moment_end_at_once_what_does_not_end_by_one() throws Exception {
    CountDownLatch ready = new CountDownLatch(1);
    Launcher launcher = launcher(true, List.of(planned(LaunchedRole.WORKER, Map.of())), Map.of(LaunchedRole.WORKER,
        "trap '' TERM; echo ready; exec sleep 600"), new OutputStream() {
          @Override
          public void write(int b) {
            ready.countDown();
          }
        }, null);
    launcher.start();
    assertThat(ready.await(SECONDS, TimeUnit.SECONDS)).isTrue();
    Thread other = new Thread(launcher::interrupt);
    other.start();
    launcher.interrupt();
    other.join();
    long began = System.nanoTime();
    assertThatThrownBy(launcher::await).isInstanceOf(Cancelled.class);
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began)).as("ms; one signal would leave it 30000").isLessThan(30_000);
    assertThat(said.toString()).contains("worker 0 does not end, and is killed");
  }

  @Test
  void when_a_trainer_fails_and_the_job_continues_without_it_then_the_others_end_and_a_warning_names_it() {
    for (boolean continues : new boolean[] {true, false}) {
      said.getBuffer().setLength(0);
      Path gate = dir.resolve("lost-" + continues);
      LaunchPlan plan = new LaunchPlan(false, "", List.of(planned(LaunchedRole.SERVER, SERVER), planned(LaunchedRole.WORKER, Map.of()),
          new LaunchPlan.Planned(LaunchedRole.WORKER, 1, Map.of())), List.of(), 2, 0);
      Launcher launcher = new Launcher(plan, process -> new Call(List.of("sh", "-c", process.role() == LaunchedRole.SERVER
          ? "exec sleep 600" : process.local() == 1 ? "exit 3" : "mkfifo " + gate + "; exec cat " + gate), Map.of(), false), dir,
          new PrintWriter(said) {
            @Override
            public void println(String line) {
              super.println(line);
              if (line.contains("the others continue without it")) {
                new Thread(() -> written(gate)).start();
              }
            }
          }, OutputStream.nullOutputStream(), null);
      launcher.continueWithoutLost(continues);
      launcher.start();
      assertThat(launcher.await()).isEqualTo(continues);
      assertThat(said.toString()).contains(continues ? "WARNING: the job has ended without worker 1" : "worker 1 exited with status 3: the others "
          + "are stopped");
    }
  }

  @Test
  void when_no_trainer_ends_well_then_a_job_that_continues_without_lost_ones_fails() {
    Launcher launcher = launcher(false, List.of(planned(LaunchedRole.SERVER, SERVER), planned(LaunchedRole.WORKER, Map.of())),
        Map.of(LaunchedRole.SERVER, "exec sleep 600", LaunchedRole.WORKER, "exit 3"), OutputStream.nullOutputStream(), null);
    launcher.continueWithoutLost(true);
    launcher.start();
    assertThat(launcher.await()).isFalse();
  }

  private static final String HETER_LIST = "PADDLE_HETER_TRAINER_IP_PORT_LIST";

  /** A job of one machine with a server, a trainer and two heter workers. */
  private static List<LaunchPlan.Planned> withHeterWorkers() {
    Map<String, String> job = Map.of(HETER_LIST, "10.9.9.1:7000,10.9.9.1:7001", "PADDLE_PSERVERS_IP_PORT_LIST",
        "10.9.9.1:6170");
    return List.of(planned(LaunchedRole.SERVER, job), planned(LaunchedRole.WORKER, job),
        planned(LaunchedRole.HETER_WORKER, job),
        new LaunchPlan.Planned(LaunchedRole.HETER_WORKER, 1, job));
  }

  @Test
  void heter_workers_end_between_workers_and_servers_in_the_words_of_fleet() {
    LaunchPlan plan = new LaunchPlan(false, "", withHeterWorkers(), List.of(), 1, 0);
    Launcher launcher = new Launcher(plan, process -> new Call(List.of("sh", "-c", process.role()
        == LaunchedRole.WORKER ? "exit 0"
        : "exec sleep 600"), Map.of(), false), dir, new PrintWriter(said), OutputStream.nullOutputStream(), null);
    launcher.start();
    assertThat(launcher.await()).isTrue();
    assertThat(said.toString().lines().filter(line -> line.startsWith("Local ") || line.startsWith("Please ")
        || line.startsWith("all ")))
        .containsExactly("Local server start 1 processes. First process distributed environment info (Only For "
        + "Debug): ",
            "Local worker start 1 processes. First process distributed environment info (Only For Debug): ",
            "Local heter_worker start 2 processes. First process distributed environment info (Only For Debug): ",
            "Please check servers, workers and heter_worker logs in " + dir + "/workerlog.*, " + dir
            + "/serverlog.* and " + dir
                + "/heterlog.*",
            "all workers exit, going to finish parameter server and heter_worker.",
            "all heter_worker are killed",
            "all parameter server are killed");
    assertThat(dir.resolve("heterlog.1")).exists();
  }

  @Test
  void a_heter_worker_that_fails_ends_nothing_while_there_is_another_one_and_the_last_one_ends_the_job() {
    for (int failing : new int[] {1, 2}) {
      said.getBuffer().setLength(0);
      Path gate = dir.resolve("gate-" + failing);
      LaunchPlan plan = new LaunchPlan(false, "", withHeterWorkers(), List.of(), 1, 0);
      Launcher launcher = new Launcher(plan, process -> new Call(List.of("sh", "-c", process.role()
          == LaunchedRole.SERVER
          || process.role() == LaunchedRole.HETER_WORKER && process.local() >= failing ? "exec sleep 600"
          : process.role() == LaunchedRole.HETER_WORKER ? "exit 3" : "mkfifo " + gate + "; exec cat " + gate),
          Map.of(), false), dir,
          new PrintWriter(said) {
            @Override
            public void println(String line) {
              super.println(line);
              if (line.contains("send their batches to the other heter workers") && failing == 1) {
                new Thread(() -> written(gate)).start();
              }
            }
          }, OutputStream.nullOutputStream(), null);
      launcher.start();
      assertThat(launcher.await()).isEqualTo(failing == 1);
      assertThat(said.toString()).containsOnlyOnce("exited with status 3; trainers send their batches to the other "
          + "heter workers");
      if (failing == 2) {
        assertThat(said.toString()).contains("exited with status 3: the others are stopped");
      }
    }
  }

  @Test
  void a_machine_with_heter_workers_only_waits_for_them() {
    Map<String, String> job = Map.of(HETER_LIST, "10.9.9.1:7000,10.9.9.2:7000", "PADDLE_PSERVERS_IP_PORT_LIST",
        "10.9.9.3:6170");
    for (int status : new int[] {0, 3}) {
      LaunchPlan plan = new LaunchPlan(false, "", List.of(planned(LaunchedRole.HETER_WORKER, job)), List.of(), 2, 0);
      Launcher launcher = new Launcher(plan, process -> new Call(List.of("sh", "-c", "exit " + status), Map.of(),
          false), dir,
          new PrintWriter(said), OutputStream.nullOutputStream(), null);
      launcher.start();
      assertThat(launcher.await()).isEqualTo(status == 0);
    }
  }

  @Test
  void servers_stay_until_trainers_of_other_machines_have_left_them() throws Exception {
    CompletableFuture<Runnable> asked = new CompletableFuture<>();
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Launcher launcher = launcher(false, List.of(planned(LaunchedRole.SERVER, SERVER), planned(LaunchedRole.WORKER, Map.of())),
        Map.of(LaunchedRole.SERVER, "exec sleep 600", LaunchedRole.WORKER, "exit 0"), OutputStream.nullOutputStream(),
        (servers, rendezvous, told, over) -> {
          assertThat(servers).containsExactly("10.9.9.1:6170");
          assertThat(rendezvous).isEqualTo("10.9.9.1:6170");
          asked.complete(over);
          return () -> closed.complete(null);
        });
    launcher.start();
    CompletableFuture<Boolean> end = CompletableFuture.supplyAsync(launcher::await, waiting -> new Thread(waiting).start());
    Runnable over = asked.get(SECONDS, TimeUnit.SECONDS);
    assertThat(end).isNotDone();
    over.run();
    assertThat(end.get(SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(closed).isDone();
    assertThat(said.toString()).contains("its parameter servers stay until those of other machines have left them (Ctrl-C ends them)",
        "all parameter server are killed").doesNotContain("does not end");
  }

  @Test
  void a_server_that_ends_while_others_use_it_is_a_failure_and_a_signal_ends_the_wait() {
    List<LaunchPlan.Planned> processes = List.of(planned(LaunchedRole.SERVER, SERVER), planned(LaunchedRole.WORKER, Map.of()));
    for (boolean signal : new boolean[] {false, true}) {
      Path gate = dir.resolve("gate-" + signal);
      Launcher[] itself = new Launcher[1];
      Launcher launcher = launcher(false, processes, Map.of(LaunchedRole.SERVER, "mkfifo " + gate + "; "
          + (signal ? "exec cat " + gate : "cat " + gate + "; exit 3"), LaunchedRole.WORKER, "until [ -p " + gate + " ]; do :; done"), OutputStream.nullOutputStream(), (servers, rendezvous, told, over) -> {
            if (signal) {
              itself[0].interrupt();
            } else {
              written(gate);
            }
            return () -> { };
          });
      itself[0] = launcher;
      launcher.start();
      if (signal) {
        assertThatThrownBy(launcher::await).isInstanceOf(Cancelled.class);
      } else {
        assertThat(launcher.await()).isFalse();
        assertThat(said.toString()).contains("server 0 exited with status 3");
      }
    }
  }

  @Test
  void a_master_may_take_its_time_and_a_signal_ends_it() throws Exception {
    for (boolean signal : new boolean[] {false, true}) {
      Path gate = dir.resolve("gate-" + signal);
      said.getBuffer().setLength(0);
      CompletableFuture<Void> stays = new CompletableFuture<>();
      LaunchPlan plan = new LaunchPlan(true, "", List.of(planned(LaunchedRole.MASTER, Map.of()), planned(LaunchedRole.WORKER, Map.of())),
          List.of(), 2, 0);
      Launcher launcher = new Launcher(plan, process -> process.role() == LaunchedRole.MASTER
          ? new Call(List.of("sh", "-c", "mkfifo " + gate + "; cat >/dev/null; exec cat " + gate), Map.of(), true)
          : new Call(List.of("sh", "-c", "until [ -p " + gate + " ]; do :; done"), Map.of(), false), dir, new PrintWriter(said) {
            @Override
            public void println(String line) {
              super.println(line);
              if (line.startsWith("the master stays until")) {
                stays.complete(null);
              }
            }
          }, OutputStream.nullOutputStream(), null);
      launcher.start();
      CompletableFuture<Boolean> end = CompletableFuture.supplyAsync(launcher::await, waiting -> new Thread(waiting).start());
      stays.get(SECONDS, TimeUnit.SECONDS);
      if (signal) {
        launcher.interrupt();
        assertThatThrownBy(end::join).hasCauseInstanceOf(Cancelled.class);
      } else {
        written(gate);
        assertThat(end.get(SECONDS, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(said.toString()).doesNotContain("is killed");
    }
  }

  @Test
  void what_fails_when_the_workers_have_ended_well_is_shown() {
    Path gate = dir.resolve("gate");
    String server = "sleep 600 & trap 'kill $!; echo no space; exit 3' TERM; mkfifo " + gate + "; wait";
    Launcher launcher = launcher(false, List.of(planned(LaunchedRole.SERVER, SERVER), planned(LaunchedRole.WORKER, Map.of()),
        planned(LaunchedRole.WORKER, Map.of())), Map.of(LaunchedRole.SERVER, server, LaunchedRole.WORKER,
            "until [ -p " + gate + " ]; do :; done"), OutputStream.nullOutputStream(), null);
    launcher.start();
    assertThat(launcher.await()).isFalse();
    assertThat(said.toString()).contains("server 0 exited with status 3 when all workers had ended well", "  no space");
    launcher = launcher(true, List.of(planned(LaunchedRole.MASTER, Map.of()), planned(LaunchedRole.WORKER, Map.of())),
        Map.of(LaunchedRole.MASTER, "cat > /dev/null; exit 4", LaunchedRole.WORKER, "exit 0"), OutputStream.nullOutputStream(), null);
    launcher.start();
    assertThat(launcher.await()).isFalse();
    assertThat(said.toString()).contains("master 0 exited with status 4 when all workers had ended well").doesNotContain("ABORT");
  }

  @Test
  void two_signals_while_the_servers_end_are_no_failure_of_theirs() {
    Path gate = dir.resolve("gate");
    Launcher[] itself = new Launcher[1];
    LaunchPlan plan = new LaunchPlan(false, "", List.of(planned(LaunchedRole.SERVER, SERVER), planned(LaunchedRole.WORKER, Map.of()),
        planned(LaunchedRole.WORKER, Map.of())), List.of(), 2, 0);
    Launcher launcher = new Launcher(plan, process -> new Call(List.of("sh", "-c", process.role() == LaunchedRole.SERVER
        ? "trap '' TERM; mkfifo " + gate + "; exec sleep 600" : "until [ -p " + gate + " ]; do :; done"), Map.of(), false), dir,
        new PrintWriter(said) {
          @Override
          public void println(String line) {
            super.println(line);
            if (line.startsWith("all workers exit")) {
              itself[0].interrupt();
              itself[0].interrupt();
            }
          }
        }, OutputStream.nullOutputStream(), null);
    itself[0] = launcher;
    launcher.start();
    assertThatThrownBy(launcher::await).isInstanceOf(Cancelled.class);
    assertThat(said.toString()).contains("server 0 does not end, and is killed").doesNotContain("exited with status");
  }

  @Test
  void of_trainers_that_meet_the_place_is_listed_and_their_ranks_are_not_guessed() throws Exception {
    Launcher launcher = launcher(true, List.of(planned(LaunchedRole.WORKER, Map.of("PADDLE_MASTER", "10.9.9.1:6379"))),
        Map.of(LaunchedRole.WORKER, "exit 5"), OutputStream.nullOutputStream(), null);
    launcher.start();
    assertThat(launcher.await()).isFalse();
    assertThat(said.toString()).contains("details abouts PADDLE_MASTER can be found in",
        "Out of all 2 trainers, the trainer process with rank=[given when it joined, see its log] was aborted.");
    assertThat(dir.resolve("endpoints.log")).hasContent("PADDLE_MASTER: \n10.9.9.1:6379\n");
  }

  @Test
  void of_trainers_that_meet_over_a_store_that_is_listed_and_no_master_which_is_not_there() {
    LaunchPlan plan = new LaunchPlan(true, "", List.of(planned(LaunchedRole.WORKER, Map.of("PADDLE_MASTER", "10.9.9.1:6379"))), List.of(),
        2, 0, "file:/mnt/meeting");
    Launcher launcher = new Launcher(plan, process -> new Call(List.of("true"), Map.of(), false), dir, new PrintWriter(said),
        OutputStream.nullOutputStream(), null);
    launcher.start();
    assertThat(launcher.await()).isTrue();
    assertThat(said.toString()).contains("details abouts collective.store can be found in " + dir + "/endpoints.log");
    assertThat(dir.resolve("endpoints.log")).hasContent("collective.store: \nfile:/mnt/meeting\n");
  }

  /** A second launch keeps the logs of the one before, which had more trainers and servers. */
  @Test
  void logs_of_the_launch_before_are_kept_apart() throws Exception {
    for (String name : List.of("workerlog.0", "workerlog.1", "workerlog.23", "serverlog.0", "endpoints.log", "notes.txt", "workerlog.old")) {
      Files.writeString(dir.resolve(name), "of the first launch\n");
    }
    for (int launch = 2; launch <= 3; launch++) {
      said.getBuffer().setLength(0);
      Launcher launcher = launcher(false, List.of(planned(LaunchedRole.WORKER, Map.of())), Map.of(LaunchedRole.WORKER, "echo of launch "
          + launch), OutputStream.nullOutputStream(), null);
      launcher.start();
      assertThat(launcher.await()).isTrue();
      assertThat(said.toString()).contains("logs of the launch before are in " + dir.resolve("previous") + " now",
          "regatta: " + dir.resolve("serverlog.*") + " is of another launch, this one has none");
      assertThat(dir.resolve("workerlog.0")).hasContent("of launch " + launch);
      assertThat(dir).isDirectoryNotContaining("glob:**/{workerlog.1,workerlog.23,endpoints.log}")
          .isDirectoryContaining("glob:**/serverlog.0").isDirectoryContaining("glob:**/notes.txt").isDirectoryContaining("glob:**/workerlog.old");
      assertThat(dir.resolve("previous/workerlog.0")).hasContent(launch == 2 ? "of the first launch" : "of launch 2");
      assertThat(Files.exists(dir.resolve("previous/workerlog.23"))).as("one launch back").isEqualTo(launch == 2);
    }
  }

  @Test
  void logs_of_a_launch_that_still_runs_stay_where_they_are() throws Exception {
    LaunchPlan plan = new LaunchPlan(false, "", List.of(planned(LaunchedRole.WORKER, Map.of())), List.of(), 1, 0, "");
    Path log = dir.resolve("workerlog.7");
    try (LaunchLogs first = LaunchLogs.begin(dir, plan)) {
      assertThat(first.lines()).isEmpty();
      Files.writeString(log, "of the first launch\n");
      try (LaunchLogs second = LaunchLogs.begin(dir, plan)) {
        assertThat(second.lines()).singleElement().asString().contains("another launch that still runs has its logs in " + dir,
            "give each launch its own --log_dir");
      }
      assertThat(log).exists();
    }
    try (LaunchLogs third = LaunchLogs.begin(dir, plan)) {
      assertThat(third.lines()).singleElement().asString().contains("logs of the launch before are in");
    }
    assertThat(log).doesNotExist();
  }

  private static void written(Path gate) {
    try {
      Files.writeString(gate, "go\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
