/**
 * The trainer's side of a shard map: one client over all shards, which splits pushes and pulls and keeps geo's local
 * state. Trainers call it, over links in process or over the network.
 */
package io.regatta.core.client;
