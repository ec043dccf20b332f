package io.regatta.core.exchange;

/**
 * Rows of one sparse table: gradients, deltas or values. Ids are distinct within one message.
 *
 * @param table name
 * @param ids n distinct ids
 * @param values n × dim floats, row-major
 */
public record SparseRows(String table, long[] ids, float[] values) {}
