package io.regatta.fleet.process;

import io.regatta.core.loop.Deadline;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.parameterserver.TrainerStatus;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A wait, of any length, until no trainer holds a job at some services: each leaves, or is declared lost by the
 * rendezvous. Used once; runs on its owner's loop.
 */
final class DepartureWatch {

  /**
   * The intervals at which services are asked, ms. Trainers that leave together do so within moments; later the
   * remaining ones are worth a line.
   *
   * @param first interval at first
   * @param moment for how long
   * @param later interval from then on, and after a request that has failed
   */
  record Pace(long first, long moment, long later) {}

  private static final Pace PACE = new Pace(50, 1000, 500);
  /** Failures in a row that end the wait; a busy service may fail to answer once. */
  private static final int FAILURES = 10;
  private static final String ACTIVE = "active";

  private final Loop loop;
  private final Supplier<Future<String>> holders;
  private final Consumer<String> waits;
  private final Pace pace;
  private final Deadline notice;
  private final Promise<Void> left = Promise.promise();
  private String told = "";
  private int failures;

  /**
   * Creates a wait.
   *
   * @param holders asks the services for the trainers that hold a job there, in words; empty: none
   * @param waits receives those words if they last longer than a moment, and when they change
   */
  DepartureWatch(Loop loop, Supplier<Future<String>> holders, Consumer<String> waits) {
    this(loop, holders, waits, PACE);
  }

  DepartureWatch(Loop loop, Supplier<Future<String>> holders, Consumer<String> waits, Pace pace) {
    this.loop = loop;
    this.holders = holders;
    this.waits = waits;
    this.pace = pace;
    notice = Deadline.inMillis(loop.clock(), pace.moment());
  }

  /**
   * Returns a future that completes when no trainer holds a job; fails when the services have not answered ten times in
   * a row.
   */
  Future<Void> await() {
    ask();
    return left.future();
  }

  /** Asks once. Repeated by timers, not by a chain of futures, which would grow during a wait of hours. */
  private void ask() {
    holders.get().onSuccess(this::look).onFailure(this::again);
  }

  private void again(Throwable failure) {
    failures++;
    if (failures < FAILURES) {
      after(pace.later());
    } else {
      left.tryFail(failure);
    }
  }

  private void look(String held) {
    failures = 0;
    if (held.isEmpty()) {
      left.tryComplete();
    } else if (!notice.isPast()) {
      after(pace.first());
    } else {
      if (!held.equals(told)) {
        told = held;
        waits.accept(held);
      }
      after(pace.later());
    }
  }

  private void after(long millis) {
    loop.after(millis, this::ask);
  }

  /** Returns the trainers that hold a job at servers, as in {@code trainers 1, 3 of job ctr}; empty: none. */
  static String holders(List<StatusReply> servers) {
    Map<String, TreeSet<Integer>> ranks = new TreeMap<>();
    servers.stream().flatMap(server -> server.getShardsList().stream()).flatMap(shard -> shard.getJobsList().stream())
        .forEach(job -> ranks.computeIfAbsent(job.getJob(), name -> new TreeSet<>()).addAll(job.getTrainersList().stream()
            .filter(trainer -> trainer.getState().equals(ACTIVE)).map(TrainerStatus::getRank).toList()));
    return ranks.entrySet().stream().map(job -> "trainers " + job.getValue().stream().map(String::valueOf)
        .collect(Collectors.joining(", ")) + " of job " + job.getKey()).collect(Collectors.joining("; "));
  }
}
