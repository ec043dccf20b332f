package io.regatta.fleet.command.tune;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.search.SuccessiveHalving.Rung;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** The trials of a search, rung by rung, several at a time. Used once, by one thread. */
final class Search {

  /** Trains one trial; any thread. */
  interface Runner {
    Trial run(int number, int epochs);
  }

  private final TrialFile file;
  private final Runner runner;
  private final Comparator<Trial> order;
  private final int parallel;

  /**
   * Creates a search.
   *
   * @param order the better trial first
   * @param parallel trials at a time
   */
  Search(TrialFile file, Runner runner, Comparator<Trial> order, int parallel) {
    this.file = file;
    this.runner = runner;
    this.order = order;
    this.parallel = parallel;
  }

  /**
   * Runs all trials that have no result yet; blocks.
   *
   * @param ended is notified of each, in the order of their ends, on the threads of trials
   * @return the trials of the last rung, the best first
   */
  List<Trial> run(List<Rung> rungs, Consumer<Trial> ended) {
    List<Integer> left = new ArrayList<>();
    for (int number = 0; number < rungs.get(0).trials(); number++) {
      left.add(number);
    }
    List<Trial> last = List.of();
    ExecutorService threads = Executors.newFixedThreadPool(parallel, task -> {
      Thread thread = new Thread(task, "regatta-tune");
      thread.setDaemon(true);
      return thread;
    });
    try {
      for (Rung rung : rungs) {
        List<Future<Trial>> running = new ArrayList<>();
        for (int number : left.subList(0, rung.trials())) {
          running.add(threads.submit(() -> trial(number, rung.epochs(), ended)));
        }
        List<Trial> of = new ArrayList<>();
        for (Future<Trial> each : running) {
          of.add(each.get());
        }
        of.sort(order);
        left = of.stream().map(Trial::number).toList();
        last = of;
      }
      return last;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Cancelled("the search was stopped; started again, it continues");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException why) {
        throw why;
      }
      throw new IllegalStateException(e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  private Trial trial(int number, int epochs, Consumer<Trial> ended) {
    Optional<Trial> known = file.trials().stream().filter(each -> each.number() == number && each.epochs() == epochs).findFirst();
    Trial trial = known.orElseGet(() -> runner.run(number, epochs));
    if (known.isEmpty()) {
      file.add(trial);
    }
    ended.accept(trial);
    return trial;
  }
}
