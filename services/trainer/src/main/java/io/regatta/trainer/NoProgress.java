package io.regatta.trainer;

/** A {@link Progress} without output, for replicas that do not report. Stateless; any thread may use it. */
enum NoProgress implements Progress {
  INSTANCE
}
