package io.regatta.fleet.launch;

/**
 * What a launcher has to know of the program that it starts.
 *
 * @param shards of each parameter server; each has a port
 * @param elastic whether its trainers go on without those that are lost
 */
public record LaunchedJob(int shards, boolean elastic) {

  /** Of a program in code nothing else can be seen. */
  public static final LaunchedJob UNKNOWN = new LaunchedJob(1, false);
}
