/**
 * The parameters of one job on one shard: tables, their capacity and limits, and the log of what has changed. The
 * handling of pushes and pulls calls it.
 */
package io.regatta.core.shard.internal.parameters;
