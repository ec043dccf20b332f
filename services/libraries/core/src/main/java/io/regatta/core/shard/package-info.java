/**
 * One shard of a parameter server, as a state machine without threads, clocks or network of its own. The parameter
 * server's verticle calls {@link io.regatta.core.shard.ParameterShard}, and so does a trainer whose parameters lie in
 * its own process; what lies below {@code internal} is called from here only.
 */
package io.regatta.core.shard;
