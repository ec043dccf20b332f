package io.regatta.parameterserver;

/** A listener for the jobs of one shard, called on the shard's event loop. */
interface JobListener {

  /** Called when a job has begun, perhaps under the name of an earlier one. */
  void begun(String job);

  /**
   * Called when all trainers of a job have gone, and the shard has freed it.
   *
   * @param seen those that left on their own
   */
  void freed(String job, Departures seen);
}
