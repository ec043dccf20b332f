package io.regatta.core.dense;

/**
 * The place of one whole variable in a shard's dense vector.
 *
 * @param offset first element within the vector
 * @param size elements, at least 1
 * @param dimensions length of its shape, 0 for a scalar
 */
public record DenseTensor(int offset, int size, int dimensions) {}
