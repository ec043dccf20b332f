package io.regatta.fleet.launch;

/** The roles of launched processes, in the order in which they are started. */
enum LaunchedRole {
  MASTER("master", "masterlog"),
  SERVER("server", "serverlog"),
  WORKER("worker", "workerlog");

  /** Name in messages. */
  final String word;
  /** Name of its log without the point and its number on the machine. */
  final String log;

  LaunchedRole(String word, String log) {
    this.word = word;
    this.log = log;
  }
}
