package io.regatta.fleet.launch.plan;

/** The roles of launched processes, in the order in which they are started. */
public enum LaunchedRole {
  MASTER("master", "masterlog"),
  SERVER("server", "serverlog"),
  WORKER("worker", "workerlog"),
  HETER_WORKER("heter_worker", "heterlog");

  /** Name in PaddlePaddle's lines. */
  public final String word;
  /** Name of its log without the point and its number on the machine. */
  public final String log;

  LaunchedRole(String word, String log) {
    this.word = word;
    this.log = log;
  }

  /** Returns the name in messages. */
  public String inWords() {
    return word.replace('_', ' ');
  }
}
