package io.regatta.core.exchange;

/** The treatment of a push that holds NaN or infinite values. */
public enum NanPolicy {
  /** Refuse it with a clear error; nothing is applied. */
  FAIL,
  /** Count it, tick the clock, apply nothing. */
  SKIP
}
