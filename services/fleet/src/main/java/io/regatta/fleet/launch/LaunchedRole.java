package io.regatta.fleet.launch;

/** What a launched process does, in the order in which they are started. */
enum LaunchedRole {
  MASTER("master", "masterlog"),
  SERVER("server", "serverlog"),
  WORKER("worker", "workerlog");

  /** As messages call it. */
  final String word;
  /** Its log is this, a point, and its number on the machine. */
  final String log;

  LaunchedRole(String word, String log) {
    this.word = word;
    this.log = log;
  }
}
