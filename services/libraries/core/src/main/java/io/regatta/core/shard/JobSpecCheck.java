package io.regatta.core.shard;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.shard.internal.push.Trainers;

/** Checks that a job that came over the wire makes sense, before a table is made for it; models check themselves. */
final class JobSpecCheck {

  /** Trainers, and shards, of a job: far above any real one, and low enough to list. */
  private static final int PARTIES = 1 << 16;

  /** Characters of a job's name: the limit of the rendezvous, which knows a job by its name, too. */
  private static final int NAME_CHARACTERS = 512;

  private JobSpecCheck() {}

  static void check(JobSpec job, int shard) {
    require(job.job() != null && !job.job().isBlank(), "a job needs a name");
    name(job.job());
    String who = "job '" + job.job() + "'";
    require(job.mode() != null && job.nanPolicy() != null && job.model() != null,
        who + " needs a mode, a NaN policy and a model");
    require(job.trainers() >= 1 && job.trainers() <= PARTIES,
        who + " has " + job.trainers() + " trainers; 1 to " + PARTIES + " are possible");
    require(job.shards() >= 1 && job.shards() <= PARTIES,
        who + " has " + job.shards() + " shards; 1 to " + PARTIES + " are possible");
    require(shard < job.shards(), who + " is cut over " + job.shards() + " shards, 0 to " + (job.shards() - 1)
        + "; this is shard " + shard + "; read the shard map again");
    require(job.minBlock() >= 1, who + " has a smallest dense block of " + job.minBlock() + " elements; at least 1");
    require(job.stalenessBound() >= 0, who + " has staleness bound " + job.stalenessBound() + "; at least 0");
    for (SparseTableSpec t : job.model().sparse()) {
      if (job.mode().pushesDeltas() && t.life().isTracked()) { // words for each of thousands of tables would take a turn's time
        throw new InvalidInput(who + " trains local copies (geo), where shows, clicks and "
            + "admissions of table '" + t.name() + "' would not be seen; train in another mode, or give it no statistics, "
            + "admission, shrink_unseen_days and ttl_s");
      }
    }
    try {
      job.model().denseNumel();
    } catch (ArithmeticException e) {
      throw new InvalidInput(who + " has more dense elements than an int counts; cut the model", e);
    }
  }

  static void name(String job) {
    if (!job.isEmpty()) {
      PeerText.requireName("job", job, NAME_CHARACTERS, "");
    }
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new InvalidInput(otherwise);
    }
  }
}
