/**
 * The way of a push on one shard, from its arrival to its acknowledgement, and the trainers that it comes from.
 * {@code ShardStrategy} is what a mode does there; one folder beside this one has each mode's.
 */
package io.regatta.core.shard.internal.push;
