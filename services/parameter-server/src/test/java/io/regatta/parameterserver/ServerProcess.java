package io.regatta.parameterserver;

/** A parameter server with one shard as a process of its own: prints its shard's port, and ends with its standard input. */
final class ServerProcess {

  static final String READY = "shard at port ";

  private ServerProcess() {}

  public static void main(String[] args) throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      System.out.println(READY + servers.shards().get(0).getPort());
      while (System.in.read() >= 0) { }
    }
  }
}
