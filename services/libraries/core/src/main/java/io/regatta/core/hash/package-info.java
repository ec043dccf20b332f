/**
 * The hash functions of ids. Partitions, tables, digests and declared features call them.
 */
package io.regatta.core.hash;
