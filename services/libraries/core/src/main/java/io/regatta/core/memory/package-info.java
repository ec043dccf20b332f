/**
 * The heap's budgets, and the limits of a shard. Shards, streams and collectives take what they keep from here.
 */
package io.regatta.core.memory;
