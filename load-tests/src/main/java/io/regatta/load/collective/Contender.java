package io.regatta.load.collective;

import java.io.IOException;

/** A group of ranks of one kind that is measured. Used by the coordinator's main thread. */
interface Contender extends AutoCloseable {

  /** Returns the name in the tables, e.g. {@code regatta}. */
  String kind();

  int ranks();

  /** Makes this number of calls of this size, after some that are not counted. */
  Calls run(int bytes, int times) throws IOException;

  @Override
  void close() throws IOException;

  /**
   * Calls one after another.
   *
   * @param median seconds of one call
   * @param seconds of all calls
   * @param cpu seconds of all ranks; NaN if not known
   * @param gigabytes of the vectors of one rank, all calls together
   */
  record Calls(double median, double seconds, double cpu, double gigabytes) {

    /** Returns microseconds of a call. */
    double micros() {
      return median * 1e6;
    }

    /** Returns CPU seconds of all ranks for each GB that was reduced. */
    double cpuPerGb() {
      return cpu / gigabytes;
    }
  }
}
