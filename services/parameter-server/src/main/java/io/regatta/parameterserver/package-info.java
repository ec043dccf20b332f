/**
 * The parameter server: a verticle that owns its shards, their streams, snapshots and metrics. Trainers reach it over
 * tensor streams; its main and the fleet deploy it. Part of the public API.
 */
package io.regatta.parameterserver;
