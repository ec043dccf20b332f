/**
 * Snapshots and models as directories: the manifest with its checksums, chains of deltas, retention, and work on whole
 * directories (verify, re-shard, merge, export). Servers, trainers and commands call it on threads that may block;
 * nothing here is shared between threads.
 */
package io.regatta.snapshot;
