package io.regatta.load.process;

/**
 * One measured block of operations.
 *
 * @param units what was moved: GB, millions of rows, or round trips
 * @param seconds wall time
 * @param clientCpu CPU seconds of the client's process (and of the server's if both are one)
 * @param serverCpu CPU seconds of the server's process
 */
public record Sample(double units, double seconds, double clientCpu, double serverCpu) {

  /** Returns units per second. */
  public double rate() {
    return units / seconds;
  }

  /** Returns CPU seconds of both ends per unit. */
  public double cpu() {
    return (clientCpu + serverCpu) / units;
  }
}
