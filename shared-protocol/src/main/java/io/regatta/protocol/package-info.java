/**
 * The calls and tensor streams between services: clients, the handling of a shard's streams, and the messages'
 * translation from and to core's types. Services and trainers call it; it keeps nothing on disk.
 */
package io.regatta.protocol;
