/**
 * The messages between trainers and shards, as plain values: jobs, modes, pushes, pulls and their answers. Clients,
 * shards and the protocol's codec call it.
 */
package io.regatta.core.exchange;
