/**
 * Sparse tables: rows by id with their optimizer's slots, their life, and snapshots of them. Shards call it.
 */
package io.regatta.core.table;
