package io.regatta.core.progress;

/** A {@link Progress} without output, for replicas that do not report. Stateless; any thread may use it. */
enum NoProgress implements Progress {
  INSTANCE
}
