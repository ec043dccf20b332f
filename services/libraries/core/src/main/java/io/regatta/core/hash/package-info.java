/**
 * The hash function of ids. Partitions, tables and digests call it.
 */
package io.regatta.core.hash;
