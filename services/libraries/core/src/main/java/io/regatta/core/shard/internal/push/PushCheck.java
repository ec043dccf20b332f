package io.regatta.core.shard.internal.push;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.parameters.IdSet;
import io.regatta.core.shard.internal.parameters.JobTables;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A check of requests of one job on one shard as a whole, before anything changes. It checks contributors, repetitions,
 * tables, lengths and owners of ids; the content of a push is checked by {@link RowCheck}. Changes nothing but
 * its own sets. Owned by the shard's thread.
 */
public final class PushCheck {

  /** Largest number of ids for which one set is reused from push to push; more have a set of their own. */
  public static final int FEW_IDS = 1 << 16;

  private final JobContext job;
  private final Trainers trainers;
  private final JobTables tables;
  private final int shard;
  private final Sharding sharding;
  private final String where;
  /** Null while a check has it. */
  private IdSet kept = IdSet.forFew();

  public PushCheck(JobContext job, JobTables tables, Trainers trainers, int shard) {
    this.job = job;
    this.tables = tables;
    this.trainers = trainers;
    this.shard = shard;
    sharding = job.spec.sharding();
    where = job.where;
  }

  static String name(Push push) {
    StringBuilder b = new StringBuilder("push of step ").append(push.step()).append(" of trainer ");
    for (int i = 0; i < push.contributors().size(); i++) {
      b.append(i == 0 ? "" : ", ").append(push.contributors().get(i).rank());
    }
    return b.toString();
  }

  /** Returns the live trainers whose gradients are in a push. */
  List<TrainerState> contributors(Push push, String who) {
    if (push.contributors().isEmpty()) {
      throw new InvalidInput("push of step " + push.step() + " at " + where + " names no contributor");
    }
    List<TrainerState> from = new ArrayList<>(push.contributors().size());
    int previous = -1;
    for (Contributor c : push.contributors()) {
      TrainerState t = trainers.live(c.rank(), c.incarnation(), who);
      if (c.rank() <= previous) {
        throw new InvalidInput(who + " at " + where + ": contributors must be in ascending rank order");
      }
      if (c.sequence() < 1 || !(c.weight() >= 0) || Double.isInfinite(c.weight())) {
        throw new InvalidInput(who + " at " + where + " has sequence " + c.sequence() + " and weight " + c.weight()
            + "; sequences count from 1, weights are finite and not negative");
      }
      previous = c.rank();
      from.add(t);
    }
    return from;
  }

  /**
   * Returns true if the push has been taken in before; refuses one of which only some trainers' gradients have been.
   */
  boolean repeated(Push push, List<TrainerState> from, String who) {
    int known = 0;
    for (int i = 0; i < from.size(); i++) {
      if (push.contributors().get(i).sequence() <= from.get(i).lastSequence()) {
        known++;
      }
    }
    if (known > 0 && known < from.size()) {
      throw new InvalidInput(who + " mixes gradients that " + where
          + " has already taken in with new ones; repeat what was sent, unchanged");
    }
    return known > 0;
  }

  /** Refuses an announcement that holds gradients. */
  void empty(Push push, String who) {
    if (push.dense() != null || !push.sparse().isEmpty()) {
      throw new InvalidInput(who + " refused at " + where + ": a push that says that its trainer sits out holds no "
          + "gradients; push them first, under their step");
    }
  }

  /** Refuses a push of a trainer that sits out: it must register first. */
  public void takePart(List<TrainerState> from, String who) {
    for (TrainerState t : from) {
      if (t.sitsOut()) {
        throw new InvalidInput(who + " refused at " + where + ": trainer " + t.rank() + " sits out; register again first");
      }
    }
  }

  /** Checks tables and lengths. */
  public void shapes(Push push, String who) {
    if (push.dense() != null) {
      denseLength(push.dense().size(), who);
    }
    Set<String> seen = new HashSet<>();
    for (SparseRows r : push.sparse()) {
      SparseTableSpec t = tables.spec(r.table());
      if (!seen.add(r.table())) {
        throw new InvalidInput(who + " names table '" + r.table() + "' twice at " + where + "; merge its rows");
      }
      int width = t.pushWidth();
      if (r.values().length != (long) r.ids().length * width) {
        throw new InvalidInput(who + " has " + r.values().length + " values for " + r.ids().length + " rows of table '"
            + r.table() + "' at " + where + ", whose pushed rows have " + width + " values");
      }
      if (r.ids().length > 0 && r.counts() != t.counts()) {
        throw new InvalidInput(who + " says that " + r.counts() + " values of a row of table '" + r.table()
            + "' are counts, but at " + where + " it is " + t.counts() + " (show and click, with statistics)");
      }
    }
  }

  public void denseLength(int size, String who) {
    if (size != tables.denseSize()) {
      throw new InvalidInput(who + " has " + size + " dense elements; the dense vector at " + where + " has "
          + tables.denseSize() + (sharding.holdsDense(shard) ? "" : ": this shard holds sparse tables only"));
    }
  }

  /** Checks step and version, and that there are values to apply it to. */
  public void order(Push push, String who) {
    if (push.step() < 0 || push.version() < 0 || push.version() > job.version()) {
      throw new InvalidInput(who + " has step " + push.step() + " and version " + push.version() + " at " + where
          + ", which is at version " + job.version());
    }
    if (!tables.initialized()) {
      throw new InvalidInput(who + " came before the dense vector was initialised at " + where
          + "; rank 0 initialises (another if that is lost), then everybody pulls, then pushes");
    }
  }

  /**
   * Allows a push that holds NaN or infinity to be dropped, if the policy is to skip it and all of it is here.
   *
   * @throws InvalidInput otherwise: other shards would apply the rest of a push of which this one drops its part
   */
  public void nanPolicy(String who, String bad) {
    if (job.spec.nanPolicy() == NanPolicy.SKIP && sharding.shards() > 1) {
      throw new InvalidInput(who + " refused at " + where + ": " + bad + ", and the other " + (sharding.shards() - 1)
          + " of the job's shards cannot know. A client of several shards looks through a push before it sends it, and in place of "
          + "one that holds NaN or infinity pushes nothing, with weight 0, to each of them");
    }
    if (job.spec.nanPolicy() == NanPolicy.FAIL) {
      throw new InvalidInput(who + " refused at " + where + ": " + bad
          + "; lower the learning rate, clip gradients, or set the NaN policy to skip");
    }
  }

  /** Checks the tables and the owners of the ids of a pull. */
  public void wish(List<SparseIds> wish, String who) {
    for (SparseIds s : wish) {
      tables.spec(s.table());
      owned(s.table(), s.ids(), 0, s.ids().length, who);
    }
  }

  /** Checks the owners of {@code ids[from .. to)}. */
  void owned(String table, long[] ids, int from, int to, String who) {
    if (sharding.shards() == 1) {
      return;
    }
    for (int i = from; i < to; i++) {
      int owner = SparsePartition.shardOf(ids[i], sharding);
      if (owner != shard) {
        throw new InvalidInput(who + " holds id " + ids[i] + " of table '" + table + "' at " + where
            + (sharding.holdsSparse(shard) ? "" : ", which holds dense parameters only")
            + ", but that id belongs to shard " + owner + " of " + sharding.shards());
      }
    }
  }

  /** Returns an empty set for that number of ids. */
  public IdSet takeIdSet(int ids) {
    if (ids > FEW_IDS) {
      return IdSet.forMany();
    }
    IdSet set = kept == null ? IdSet.forFew() : kept;
    kept = null;
    set.clear();
    return set;
  }

  /** Takes back the set for that number of ids; may be null. */
  public void giveIdSet(IdSet set, int ids) {
    if (set != null && ids <= FEW_IDS) {
      kept = set;
    }
  }
}
