package io.regatta.fleet.launch;

import java.util.List;

/**
 * What a launcher has to know of the program that it starts.
 *
 * @param shards of each parameter server; each has a port
 * @param elastic whether its trainers go on without those that are lost
 * @param settings arguments of the program that its rendezvous takes as well: {@code -conf}, and {@code --set} of the section node
 */
public record LaunchedJob(int shards, boolean elastic, List<String> settings) {

  /** Of a program in code nothing else can be seen. */
  public static final LaunchedJob UNKNOWN = new LaunchedJob(1, false, List.of());

  public LaunchedJob {
    settings = List.copyOf(settings);
  }
}
