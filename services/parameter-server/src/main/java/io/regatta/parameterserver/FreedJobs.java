package io.regatta.parameterserver;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Jobs that some shards of one server have freed and others have not, each by its name. A name may be used again: the
 * last report of a shard replaces the one before. Owned by the event loop of the server.
 */
final class FreedJobs {

  private final int shards;
  /** By job, then by index of the shard. */
  private final Map<String, Map<Integer, Departures>> reports = new HashMap<>();

  /**
   * Creates an empty one.
   *
   * @param shards of the server
   */
  FreedJobs(int shards) {
    this.shards = shards;
  }

  /**
   * Records that a shard has freed a job.
   *
   * @param seen empty: its trainers were all lost
   * @return the reports of all shards, if this was the last one and a trainer has left one of them by its own will. If
   *     all trainers were lost, the job may be begun again.
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
