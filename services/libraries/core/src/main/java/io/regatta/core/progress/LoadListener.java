package io.regatta.core.progress;

/** Is told how far a load of files into memory is; on the thread that waits for it, a few times a second and at the end. */
@FunctionalInterface
public interface LoadListener {

  /**
   * @param bytes of the files that have been read
   * @param all their size
   */
  void loaded(long bytes, long all);
}
