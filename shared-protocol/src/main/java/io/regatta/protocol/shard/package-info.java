/**
 * The streams to a shard or an aggregator, on both sides: a trainer's links, the session that serves a stream, and the
 * chunks of requests and answers. Trainers make links, servers and aggregators make sessions.
 */
package io.regatta.protocol.shard;
