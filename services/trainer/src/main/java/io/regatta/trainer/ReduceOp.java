package io.regatta.trainer;

/** How {@link Worker#allReduce} combines the values of the ranks, element by element, in rank order. */
public enum ReduceOp {
  SUM,
  MEAN,
  MIN,
  MAX
}
