package io.regatta.core.progress;

/** The silent {@link Progress} of replicas that do not report. Stateless, any thread. */
enum NoProgress implements Progress {
  INSTANCE
}
