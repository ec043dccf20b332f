/**
 * Snapshots and models on disk: safetensors files, a manifest with checksums, and what is done with whole directories of
 * them (verify, re-shard, merge, export). Everything here blocks on files, so none of it belongs on an event loop; nothing
 * here is shared between threads.
 */
package io.regatta.protocol.snapshot;
