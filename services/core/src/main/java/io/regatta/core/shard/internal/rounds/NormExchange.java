package io.regatta.core.shard.internal.rounds;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.internal.job.JobContext;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/**
 * A shard's part in the exchange of norms, for an optimizer that needs them over whole tensors whose parts lie on several
 * shards: the sums of squares of this shard's parts in a round that has been measured, and the requests of trainers
 * for them. The sums of the last rounds are kept, for trainers that are behind. Every trainer of a round asks all shards, adds their sums up in the order of the shards, and sends the
 * totals to all of them. Owned by the shard's thread.
 */
final class NormExchange {

  /** Answer for a round that is over: nobody waits for its totals. */
  private static final double[] NONE = {};

  private record Request(int rank, long step, long sinceMillis, BiConsumer<double[], Throwable> done) {}

  private final JobContext job;
  private final int most;
  private final int kept;
  private final List<Request> requests = new ArrayList<>();
  /** Sums by step, of the last rounds that were measured. */
  private final TreeMap<Long, double[]> measured = new TreeMap<>();

  /**
   * Creates the exchange of a job.
   *
   * @param kept rounds whose sums are kept: as many as a trainer may be behind
   */
  NormExchange(JobContext job, int kept) {
    this.job = job;
    this.kept = kept;
    most = Math.multiplyExact(job.spec.trainers(), kept);
  }

  /** Answers a request for the sums of a round, once it has been measured; {@code next} is the first round that is not closed. */
  void ask(int rank, long step, long next, BiConsumer<double[], Throwable> done) {
    double[] sums = measured.get(step);
    if (sums != null || step < next) {
      job.completions.value(done, sums == null ? NONE : sums.clone());
    } else if (requests.size() >= most) {
      throw new Overloaded("request for norms of step " + step + " of trainer " + rank + " refused: " + requests.size()
          + " wait at " + job.where + ", which has " + most + " at most; wait for answers first");
    } else {
      requests.add(new Request(rank, step, job.nowMillis(), done));
    }
  }

  /** Takes the sums of a round that has been measured, and answers the requests for it. */
  void measured(long step, double[] ofStep) {
    measured.put(step, ofStep);
    if (measured.size() > kept) {
      measured.pollFirstEntry();
    }
    answer(r -> r.step == step, r -> job.completions.value(r.done, ofStep.clone()));
  }

  /** Answers the requests for rounds before this one, which have been skipped. */
  void skippedTo(long next) {
    answer(r -> r.step < next, r -> job.completions.value(r.done, NONE));
  }

  /** Drops a request, because its stream is gone. */
  void withdraw(BiConsumer<double[], Throwable> done) {
    requests.removeIf(r -> r.done == done);
  }

  /** Fails the requests of ranks that have ended, or all. */
  void fail(IntPredicate rank, Function<String, RegattaException> why) {
    answer(r -> rank.test(r.rank), r -> job.completions.error(r.done, why.apply("norms of step " + r.step + " at " + job.where)));
  }

  private void answer(Predicate<Request> which, Consumer<Request> how) {
    for (Iterator<Request> it = requests.iterator(); it.hasNext(); ) {
      Request r = it.next();
      if (which.test(r)) {
        it.remove();
        how.accept(r);
      }
    }
  }

  /** Adds the requests that wait, each with the trainers whose pushes its round lacks. */
  void waits(List<Wait> out, Function<Long, List<Wait.Peer>> missing) {
    for (Request r : requests) {
      out.add(new Wait("trainer " + r.rank, "norms of step " + r.step, job.where, r.sinceMillis, missing.apply(r.step)));
    }
  }
}
