package io.regatta.core.exchange;

/** The distinct ids of one sparse table whose rows are requested. */
public record SparseIds(String table, long[] ids) {}
