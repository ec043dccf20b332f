package io.regatta.core.progress;

/**
 * A listener for the progress of loading files into memory. Called on the thread that waits for the load, a few times a
 * second and at the end.
 */
@FunctionalInterface
public interface LoadListener {

  /**
   * Called with the progress so far.
   *
   * @param bytes of the files that have been read
   * @param all their size
   */
  void loaded(long bytes, long all);
}
