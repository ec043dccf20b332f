package io.regatta.fleet.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

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
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Fault matrix of jobs with heter workers, in virtual time. A server, a trainer, a heter worker or the rendezvous is
 * killed or frozen in the middle of a job, in each mode and with each way of the dense parameters. Gradients are
 * applied once, or not at all where the mode allows it. The table in docs/heter-workers.md is made from the results.
 */
class SimulatedHeterFaultsTest {
  private static final GeneratedPage PAGE = new GeneratedPage("docs/heter-workers.md");
  private static final int SEEDS = 3;
  private static final List<Mode> MODES = List.of(Mode.SYNC, Mode.HALF_ASYNC, Mode.ASYNC, Mode.GEO, Mode.SSP,
      Mode.COLLECTIVE);
  private static final double PRECISION = 1e-5;
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
      return (mode.needsServers() || !atWorkers && role != Role.SERVER) && (dense != Dense.COLLECTIVE
          || mode.hasRounds());
    }
  }

  /** A line that a process says, or the reason for which a trainer ends. */
  private record Said(long nanos, String who, String text) {}

  /**
   * Result of some runs of a cell.
   *
   * @param lost gradients of survivors that were not applied
   * @param says who says it first, and in which words
   */
  private record Outcome(boolean ends, int lost, TreeSet<String> says, long fromMillis, long toMillis) {

    Outcome and(Outcome other) {
      assertThat(other.ends).isEqualTo(ends);
      TreeSet<String> all = new TreeSet<>(says);
      all.addAll(other.says);
      return new Outcome(ends, Math.max(lost, other.lost), all, Math.min(fromMillis, other.fromMillis),
          Math.max(toMillis, other.toMillis));
    }

    String seen() {
      return toMillis < 1000 ? "at once" : fromMillis / 1000 + " to " + (toMillis + 999) / 1000 + " s";
    }

    /** Returns the cells of a row that are the same for all modes of that row. */
    String row(Cell cell) {
      String what = ends ? "the job ends with status 1" : "the others continue";
      String without = cell.role() == Role.RENDEZVOUS ? "nothing: it ends at the next barrier"
          : ends ? "steps after the last snapshot" : cell.role() == Role.TRAINER ? "its steps that it has not pushed"
          : lost > 0 ? "its ranks' local steps of the part since their last exchange" : "nothing";
      return what + " | " + without + " | " + String.join(" or ", says);
    }
  }

  /** Collects warnings with their virtual times. */
  private static final class Listener extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger("io.regatta");
    private final SimulatedHeterJob job;
    private final List<Said> said = new ArrayList<>();
    private Loop victim;

    Listener(SimulatedHeterJob job) {
      this.job = job;
      start();
      logger.addAppender(this);
      for (int rank = 0; rank < SimulatedHeterJob.TRAINERS; rank++) {
        int number = rank;
        job.trainers.get(rank).over.future().onFailure(e -> add("trainer " + number, ErrorMapping.regatta(e)
            .getMessage()));
      }
      job.workers.forEach(worker -> worker.onLost = rank -> add("heter worker", "trainer " + rank + " is lost"));
    }

    private void add(String who, String text) {
      if (victim != null && victim.isCurrent()) {
        return; // what is left of a killed process
      }
      said.add(new Said(job.cluster.time.nanos(), who, text));
    }

    @Override
    protected void append(ILoggingEvent event) {
      String name = event.getLoggerName();
      String who = name.substring(name.lastIndexOf('.') + 1);
      if (event.getLevel().isGreaterOrEqual(Level.WARN) && !who.equals("LibraryNotice")) { // Netty's, of other tests
        add(who, event.getFormattedMessage());
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
      listener.victim = victim;
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
        throw new AssertionError(cell + ", seed " + seed + " ends after nothing that was said: " + listener.said
            + ", steps "
            + job.trainers.stream().map(trainer -> trainer.made + " " + trainer.over.future()).toList(), e);
      }
      boolean ends = survivors.stream().allMatch(rank -> job.trainers.get(rank).over.future().failed());
      assertThat(ends || survivors.stream().allMatch(rank -> job.trainers.get(rank).over.future().succeeded()))
          .as("%s: all end "
          + "alike", cell).isTrue();
      Said first = listener.said.stream().min(Comparator.comparingLong(Said::nanos)).orElseThrow();
      long millis = (first.nanos() - begin) / NANOS_PER_MILLI;
      return new Outcome(ends, ends ? 0 : lost(cell, job, survivors), new TreeSet<>(List.of(words(first))), millis,
          millis);
    }
  }

  private static String words(Said said) {
    if (said.text().contains("to heter worker")) {
      return "its trainers: `heter worker 0 … is lost: …; 1 batch goes to heter worker 1`";
    }
    if (said.text().contains("cannot add up")) {
      return "all trainers: `the heter workers of job … cannot add up their gradients …`";
    }
    return switch (said.who()) {
      case "heter worker" -> "its heter worker: `trainer 1 of job … is lost: …`";
      case "Group" -> "the rendezvous: `rank 1 … is lost: no heartbeat within 10.0 s; …`";
      case "HeartbeatSender" -> "the trainers: `… no answer to a heartbeat …`";
      case "GroupWatch" -> "the servers: `shard 0 cannot follow group … at the rendezvous …`";
      default -> said.text().contains("shard-0") ? "the trainers: `server 0 … is lost …: …`"
          : said.text().contains("rendezvous") ? "the trainers: `… rendezvous … is lost …`" : said.who() + ": "
              + said.text();
    };
  }

  /** Checks that no gradient was applied twice, and returns how many of the survivors' were not applied. */
  private static int lost(Cell cell, SimulatedHeterJob job, List<Integer> survivors) {
    int missing = 0;
    for (int rank = 0; rank < SimulatedHeterJob.TRAINERS; rank++) {
      List<Double> applied = job.applied(rank, survivors.get(0));
      for (int step = 0; step < applied.size(); step++) {
        assertThat(applied.get(step)).as("%s: gradient of step %d of trainer %d", cell, step, rank).isBetween(0.0, 1
            + PRECISION);
        boolean pushed = applied.get(step) > PRECISION;
        if (survivors.contains(rank)) {
          missing += pushed ? 0 : 1;
        } else if (step < BEFORE - SimulatedHeterJob.GEO_STEPS) {
          assertThat(pushed).as("%s: acknowledged push of step %d of the lost trainer", cell, step).isTrue();
        }
        if (cell.mode().hasRounds() && pushed) {
          assertThat(applied.get(step)).as("%s: step %d of trainer %d, once in a mean of 2 or 3", cell, step, rank)
              .satisfiesAnyOf(of -> assertThat(of).isCloseTo(1 / 3.0, within(PRECISION)),
                  of -> assertThat(of).isCloseTo(1 / 2.0, within(PRECISION)));
        } else if (!cell.mode().pushesDeltas() && cell.mode().needsServers() && pushed) {
          assertThat(applied.get(step)).as("%s: step %d of trainer %d, once", cell, step, rank).isCloseTo(1,
              within(PRECISION));
        }
      }
    }
    return missing;
  }

  private static boolean mayEnd(Cell cell) {
    return switch (cell.role()) {
      case SERVER, RENDEZVOUS -> true;
      case TRAINER -> !cell.mode().needsServers();
      case HETER_WORKER -> cell.dense() == Dense.COLLECTIVE;
    };
  }

  private static int mayLose(Cell cell) {
    boolean localSteps = cell.role() == Role.HETER_WORKER && cell.mode().pushesDeltas()
        && cell.dense() == Dense.SERVERS;
    return localSteps ? SimulatedHeterJob.TRAINERS * SimulatedHeterJob.GEO_STEPS : 0;
  }

  @Test
  void nothing_is_lost_but_what_the_mode_allows() throws IOException {
    Map<Cell, Outcome> outcomes = new LinkedHashMap<>();
    for (Role role : Role.values()) {
      for (Dense dense : Dense.values()) {
        for (How how : How.values()) {
          for (Mode mode : MODES) {
            Cell cell = new Cell(role, how, dense, mode);
            for (long seed = 0; seed < SEEDS && cell.makesSense(); seed++) {
              outcomes.merge(cell, run(cell, seed), Outcome::and);
            }
          }
        }
      }
    }
    outcomes.forEach((cell, outcome) -> {
      assertThat(outcome.ends()).as("%s ends the job", cell).isEqualTo(mayEnd(cell));
      assertThat(outcome.lost()).as("gradients lost by %s", cell).isLessThanOrEqualTo(mayLose(cell));
    });
    PAGE.holds("faults", table(outcomes));
  }

  /** Returns a row for all modes, and both ways to lose the process, that differ in the time alone. */
  private static String table(Map<Cell, Outcome> outcomes) {
    StringBuilder table = new StringBuilder("| Lost | `heter.dense` | Modes | What happens | What is lost | Who says it first | "
        + "Killed, seen | Frozen, seen |\n|---|---|---|---|---|---|---|---|\n");
    Map<String, Map<How, Outcome>> rows = new LinkedHashMap<>();
    Map<String, Set<String>> modes = new LinkedHashMap<>();
    outcomes.forEach((cell, outcome) -> {
      Outcome both = outcome.and(outcomes.get(new Cell(cell.role(), How.values()[1 - cell.how().ordinal()],
          cell.dense(), cell.mode())));
      String head = "| " + name(cell.role()) + " | " + name(cell.dense()) + " | ";
      String row = head + "%s | " + both.row(cell);
      rows.computeIfAbsent(row, r -> new LinkedHashMap<>()).merge(cell.how(), outcome, Outcome::and);
      modes.computeIfAbsent(row, r -> new LinkedHashSet<>()).add(cell.mode().id());
    });
    rows.forEach((row, both) -> table.append(row.formatted(String.join(", ", modes.get(row)))).append(" | ")
        .append(both.get(How.KILLED).seen()).append(" | ").append(both.get(How.FROZEN).seen()).append(" |\n"));
    return table.toString();
  }

  private static String name(Enum<?> of) {
    return of.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
