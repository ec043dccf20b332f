package io.regatta.core.shard;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.table.SparseTable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;

/** Pulls of one job on one shard: answered when the mode allows, parked until then. Owned by the shard's thread. */
final class PullQueue {

  private record Parked(Pull pull, TrainerState trainer, long sinceMillis, BiConsumer<Pulled, Throwable> done) {}

  /** Without an aggregator a push comes before the pull of the next step. */
  private static final String OWN_PUSH = "its own push (the gradient aggregator may hold it, and say for whom)";

  private final JobState job;
  private final int limit;
  private final Completions completions;
  private final List<Parked> parked = new ArrayList<>();
  private long clockLeadMax;

  PullQueue(JobState job, int limit, Completions completions) {
    this.job = job;
    this.limit = limit;
    this.completions = completions;
  }

  void add(Pull pull, TrainerState trainer, long nowMillis, BiConsumer<Pulled, Throwable> done) {
    String who = name(pull);
    if (pull.changed() && job.spec.mode() != Mode.GEO) {
      throw new InvalidInput(who + " asks " + job.where + " for changed rows, which only geo mode keeps, not "
          + job.spec.mode());
    }
    if (pull.changed() && pull.readOnly()) {
      throw new InvalidInput(who + " asks " + job.where + " read-only for changed rows, which are forgotten once told; "
          + "ask for them in a pull of a step");
    }
    job.check.wish(pull.sparse(), who);
    if (released(pull)) {
      completions.value(done, answer(pull, trainer));
    } else if (parked.size() >= limit) {
      throw new Overloaded(who + " refused: " + parked.size() + " pulls wait at " + job.where
          + " already, its limit; wait for answers before asking again");
    } else {
      parked.add(new Parked(pull, trainer, nowMillis, done));
    }
  }

  /** Answers what need not wait any longer. */
  void release() {
    for (Iterator<Parked> it = parked.iterator(); it.hasNext(); ) {
      Parked p = it.next();
      if (released(p.pull)) {
        it.remove();
        try {
          completions.value(p.done, answer(p.pull, p.trainer));
        } catch (RuntimeException | Error e) {
          completions.error(p.done, e);
        }
      }
    }
  }

  /** Fails the parked pulls of one trainer, or of all if null. */
  void fail(TrainerState trainer, Function<String, RegattaException> why) {
    for (Iterator<Parked> it = parked.iterator(); it.hasNext(); ) {
      Parked p = it.next();
      if (trainer == null || p.trainer == trainer) {
        it.remove();
        completions.error(p.done, why.apply(name(p.pull) + " at " + job.where + " given up"));
      }
    }
  }

  /** Forgets a parked pull: nobody is there to take the answer. */
  void withdraw(BiConsumer<Pulled, Throwable> done) {
    parked.removeIf(p -> p.done == done);
  }

  /** Highest clock lead of a trainer, seen when a pull of a step was answered. */
  long clockLeadMax() {
    return clockLeadMax;
  }

  void waits(List<Wait> out) {
    for (Parked p : parked) {
      out.add(new Wait(p.trainer.name(), "pull of step " + p.pull.minStep(), job.where, p.sinceMillis,
          waitsFor(p)));
    }
  }

  static String name(Pull pull) {
    return "pull of step " + pull.minStep() + " of trainer " + pull.rank();
  }

  private boolean released(Pull pull) {
    if (!job.tables.initialized()) {
      return false;
    }
    return switch (job.spec.mode()) {
      case SYNC -> job.rounds.next() >= pull.minStep() && !job.closing();
      case SSP -> job.trainers.minClock(pull.minStep()) >= pull.minStep() - job.spec.stalenessBound();
      case HALF_ASYNC, ASYNC, GEO -> true;
    };
  }

  /** Nobody waits for himself: his own push is under way, as far as this shard can tell. */
  private List<Wait.Peer> waitsFor(Parked p) {
    Pull pull = p.pull;
    if (!job.tables.initialized()) {
      return List.of(job.trainers.peer(0));
    }
    Predicate<TrainerState> behind = job.spec.mode() == Mode.SYNC ? t -> t.nextStep < pull.minStep()
        : t -> t.clock < pull.minStep() - job.spec.stalenessBound();
    List<Wait.Peer> peers = new ArrayList<>(job.trainers.missing(behind));
    if (peers.removeIf(peer -> peer.name().equals(p.trainer.name()))) {
      peers.add(Wait.Peer.named(OWN_PUSH));
    }
    return peers;
  }

  private Pulled answer(Pull pull, TrainerState trainer) {
    try {
      return values(pull, trainer);
    } catch (OutOfMemoryError | ArithmeticException e) { // too little heap, or more than an array can hold
      throw new Overloaded(name(pull) + " refused: no room for its answer at " + job.where
          + "; give the server a larger heap, use more shards, or pull less at a time");
    }
  }

  private Pulled values(Pull pull, TrainerState trainer) {
    long clockLead = trainer.clock - job.trainers.minClock(trainer.clock);
    if (!pull.readOnly()) {
      job.rowLimit.check(job.rowLimit.births(pull.sparse()), name(pull));
      clockLeadMax = Math.max(clockLeadMax, clockLead);
    }
    List<SparseRows> rows = new ArrayList<>(pull.sparse().size());
    for (SparseIds s : pull.sparse()) {
      SparseTable table = job.tables.table(s.table());
      rows.add(new SparseRows(s.table(), s.ids(), pull.readOnly() ? table.read(s.ids()) : table.pull(s.ids())));
    }
    if (pull.changed()) {
      for (SparseTable table : job.tables.sparseTables()) {
        long[] ids = trainer.changed(table.spec().name());
        if (ids.length > 0) {
          rows.add(new SparseRows(table.spec().name(), ids, table.pull(ids)));
        }
      }
    }
    Pulled pulled = new Pulled(job.version(), pull.dense() ? job.tables.denseSnapshot() : null, rows, clockLead);
    if (pull.changed()) {
      trainer.forgetChanged();
    }
    return pulled;
  }
}
