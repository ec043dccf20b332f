package io.regatta.parameterserver;

/** Is notified of the jobs of one shard, on the shard's event loop. */
interface JobListener {

  /** A job has begun, perhaps under the name of an earlier one. */
  void begun(String job);

  /**
   * All trainers of a job have gone, and the shard has freed it.
   *
   * @param seen those that went by their own will
   */
  void freed(String job, Departures seen);
}
