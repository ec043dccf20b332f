package io.regatta.core.exchange;

/** Distinct ids of one sparse table whose rows are wanted. */
public record SparseIds(String table, long[] ids) {}
