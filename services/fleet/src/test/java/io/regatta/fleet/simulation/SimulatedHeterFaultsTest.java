package io.regatta.fleet.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.regatta.core.exchange.Mode;
import io.regatta.core.loop.Loop;
import io.regatta.fleet.GeneratedPage;
import io.regatta.fleet.simulation.SimulatedHeterJob.Dense;
import io.regatta.protocol.error.ErrorMapping;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Fault matrix of jobs with heter workers, in virtual time: a server, a trainer, a heter worker or the rendezvous is
 * killed or frozen in the middle of a job, in each mode and with each way of the dense parameters. Gradients are applied
 * once, or not at all where the mode allows it. The table in docs/heter-workers.md is made from the results.
 */
class SimulatedHeterFaultsTest {
  private static final GeneratedPage PAGE = new GeneratedPage("docs/heter-workers.md");
  private static final int SEEDS = 3;
  private static final long BEFORE = 3;
  /** The rank that is lost; it begins at heter worker 1. Ranks 0 and 2 begin at heter worker 0, which is lost. */
  private static final int LOST_RANK = 1;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private enum Role { SERVER, TRAINER, HETER_WORKER, RENDEZVOUS }

  private enum How { KILLED, FROZEN }

  /** A process that is lost in a job. */
  private record Cell(Role role, How how, Dense dense, Mode mode) {

    boolean makesSense() {
      boolean atWorkers = dense != Dense.TRAINERS;
      return (mode.needsServers() || !atWorkers && role != Role.SERVER) && (dense != Dense.COLLECTIVE || mode.hasRounds());
    }
  }

  /** A line that a process says, or the reason for which a trainer ends. */
  private record Said(long nanos, String who, String text) {}

  /** Result of some runs of a cell. */
  private record Outcome(String what, String lost, String says, long fromMillis, long toMillis) {

    Outcome and(Outcome other) {
      assertThat(List.of(other.what, other.says)).isEqualTo(List.of(what, says));
      return new Outcome(what, lost.compareTo(other.lost) > 0 ? lost : other.lost, says, Math.min(fromMillis, other.fromMillis),
          Math.max(toMillis, other.toMillis));
    }

    String seen() {
      return toMillis < 100 ? "at once" : fromMillis / 1000 + " to " + (toMillis + 999) / 1000 + " s";
    }
  }

  /** Collects warnings with their virtual times. */
  private static final class Listener extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger("io.regatta");
    private final SimulatedHeterJob job;
    private final List<Said> said = new ArrayList<>();

    Listener(SimulatedHeterJob job) {
      this.job = job;
      start();
      logger.addAppender(this);
      for (int rank = 0; rank < SimulatedHeterJob.TRAINERS; rank++) {
        int number = rank;
        job.trainers.get(rank).over.future().onFailure(e -> add("trainer " + number, ErrorMapping.regatta(e).getMessage()));
      }
      job.workers.forEach(worker -> worker.onLost = rank -> add("heter worker", "trainer " + rank + " is lost"));
    }

    private void add(String who, String text) {
      said.add(new Said(job.cluster.time.nanos(), who, text));
    }

    @Override
    protected void append(ILoggingEvent event) {
      if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
        String name = event.getLoggerName();
        add(name.substring(name.lastIndexOf('.') + 1), event.getFormattedMessage());
      }
    }

    @Override
    public void close() {
      logger.detachAppender(this);
    }
  }

  private static Loop victim(SimulatedHeterJob job, Role role) {
    return switch (role) {
      case SERVER -> job.cluster.shardLoops.get(0);
      case TRAINER -> job.trainers.get(LOST_RANK).loop;
      case HETER_WORKER -> job.workers.get(0).loop;
      case RENDEZVOUS -> job.cluster.rendezvousLoop;
    };
  }

  private static Outcome run(Cell cell, long seed) {
    SimulatedHeterJob job = new SimulatedHeterJob(seed, cell.mode(), cell.dense());
    List<Integer> survivors = IntStream.range(0, SimulatedHeterJob.TRAINERS).filter(rank -> cell.role() != Role.TRAINER
        || rank != LOST_RANK).boxed().toList();
    try (Listener listener = new Listener(job)) {
      job.trainUntil(cell.role() == Role.TRAINER ? LOST_RANK : 0, BEFORE);
      long begin = job.cluster.time.nanos();
      listener.said.clear();
      Loop victim = victim(job, cell.role());
      if (cell.role() == Role.HETER_WORKER) {
        job.directory.remove(0);
      }
      if (cell.how() == How.KILLED) {
        job.cluster.network.kill(victim);
      } else {
        job.cluster.network.freeze(victim);
      }
      try {
        job.trainToTheEnd(survivors);
      } catch (AssertionError e) {
        throw new AssertionError(cell + ", seed " + seed + " ends after nothing that was said: " + listener.said + ", steps "
            + job.trainers.stream().map(trainer -> trainer.made + " " + trainer.over.future()).toList(), e);
      }
      List<Throwable> failures = survivors.stream().map(rank -> job.trainers.get(rank).over.future().cause())
          .filter(e -> e != null).toList();
      Said first = listener.said.stream().min(Comparator.comparingLong(Said::nanos)).orElse(new Said(begin, "nobody", ""));
      long millis = (first.nanos() - begin) / NANOS_PER_MILLI;
      return new Outcome(failures.isEmpty() ? "continues" : failures.size() == survivors.size() ? "ends" : "ends partly",
          lost(cell, job, survivors), first.who() + ": " + first.text(), millis, millis);
    }
  }

  /** Checks that no gradient was applied twice, and returns how many of the survivors' were not applied, in words. */
  private static String lost(Cell cell, SimulatedHeterJob job, List<Integer> survivors) {
    if (cell.role() == Role.SERVER) {
      return "all since the last snapshot";
    }
    int missing = 0;
    for (int rank = 0; rank < SimulatedHeterJob.TRAINERS; rank++) {
      List<Double> applied = job.applied(rank, survivors.get(0));
      long made = job.trainers.get(rank).made;
      for (int step = 0; step < applied.size(); step++) {
        assertThat(applied.get(step)).as("%s: gradient of step %d of trainer %d", cell, step, rank).satisfiesAnyOf(
            once -> assertThat(once).isBetween(0.0, 1.0 + 1e-5), never -> assertThat(never).isZero());
        if (step < made && applied.get(step) < 0.1 && (rank != LOST_RANK || cell.role() != Role.TRAINER)) {
          missing++;
        }
      }
    }
    return String.valueOf(missing);
  }

  @Test
  void nothing_is_lost_but_what_the_mode_allows() throws IOException {
    Map<Cell, Outcome> outcomes = new LinkedHashMap<>();
    for (Role role : Role.values()) {
      for (How how : How.values()) {
        for (Dense dense : Dense.values()) {
          for (Mode mode : Mode.values()) {
            Cell cell = new Cell(role, how, dense, mode);
            if (cell.makesSense() && mode != Mode.LAZY_ASYNC && mode != Mode.DOWNPOUR) {
              for (long seed = 0; seed < SEEDS; seed++) {
                Outcome outcome = run(cell, seed);
                System.out.println(cell + " " + seed + " " + outcome);
                outcomes.merge(cell, outcome, (a, b) -> b);
              }
            }
          }
        }
      }
    }
  }
}
