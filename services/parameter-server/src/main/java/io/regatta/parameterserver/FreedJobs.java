package io.regatta.parameterserver;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The jobs of one server by name: those that its shards hold, and those that only some shards have freed. A name may be
 * used again: a shard's report counts until a job of that name begins there. Owned by the event loop of the server.
 */
final class FreedJobs {

  private final int shards;
  /** Reports by job, then by index of the shard. */
  private final Map<String, Map<Integer, Departures>> reports = new HashMap<>();
  /** Shards that hold a job, by job. */
  private final Map<String, Set<Integer>> held = new HashMap<>();
  private final List<Promise<Void>> waiting = new ArrayList<>();

  /**
   * Creates an empty record.
   *
   * @param shards number of shards of the server
   */
  FreedJobs(int shards) {
    this.shards = shards;
  }

  /** Records that a job has begun at a shard, whose report about an earlier job of this name no longer counts. */
  void begun(String job, int shard) {
    held.computeIfAbsent(job, name -> new HashSet<>()).add(shard);
    Map<Integer, Departures> ofJob = reports.get(job);
    if (ofJob != null && ofJob.remove(shard) != null && ofJob.isEmpty()) {
      reports.remove(job);
    }
  }

  /** Records that a shard does not hold a job any more. */
  void released(String job, int shard) {
    held.computeIfPresent(job, (name, shards) -> shards.remove(shard) && shards.isEmpty() ? null : shards);
    if (held.isEmpty()) {
      List<Promise<Void>> asked = List.copyOf(waiting);
      waiting.clear();
      asked.forEach(Promise::tryComplete);
    }
  }

  /** Returns a future that completes when no shard holds a job. */
  Future<Void> unused() {
    if (held.isEmpty()) {
      return Future.succeededFuture();
    }
    Promise<Void> unused = Promise.promise();
    waiting.add(unused);
    return unused.future();
  }

  /**
   * Records the report of a shard that has freed a job.
   *
   * @param seen empty: its trainers were all lost
   * @return the reports of all shards, if this was the last one and a trainer has left one of them on its own. If all
   *     trainers were lost, the job may be started again
   */
  Optional<Collection<Departures>> add(String job, int shard, Departures seen) {
    Map<Integer, Departures> ofJob = reports.computeIfAbsent(job, name -> new TreeMap<>());
    ofJob.put(shard, seen);
    if (ofJob.size() < shards) {
      return Optional.empty();
    }
    reports.remove(job);
    return Optional.of(ofJob.values()).filter(all -> !all.stream().allMatch(Departures::isEmpty));
  }
}
