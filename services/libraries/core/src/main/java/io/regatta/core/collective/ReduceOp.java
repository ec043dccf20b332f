package io.regatta.core.collective;

import java.util.Locale;

/**
 * The operations that reduce several elements to one. Sums of float32 are float32 at each addition, in the order of the
 * algorithm (docs/algorithms.md), so that the same ranks give the same bits in every run. Pure functions, any thread.
 */
public enum ReduceOp {
  SUM, MEAN, MIN, MAX;

  /** Returns its name in messages, for example {@code mean}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Computes {@code into[i] = into[i] op from[i]} for the first n; loops from index 0, which HotSpot vectorizes. */
  void apply(float[] into, float[] from, int n) {
    switch (this) {
      case SUM, MEAN -> add(into, from, n);
      case MIN -> min(into, from, n);
      case MAX -> max(into, from, n);
    }
  }

  private static void add(float[] into, float[] from, int n) {
    for (int i = 0; i < n; i++) {
      into[i] += from[i];
    }
  }

  private static void min(float[] into, float[] from, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Math.min(into[i], from[i]);
    }
  }

  private static void max(float[] into, float[] from, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Math.max(into[i], from[i]);
    }
  }

  /** Computes the same for counters. */
  void apply(long[] into, long[] from, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = switch (this) {
        case SUM, MEAN -> into[i] + from[i];
        case MIN -> Math.min(into[i], from[i]);
        case MAX -> Math.max(into[i], from[i]);
      };
    }
  }
}
