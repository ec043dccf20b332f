/**
 * The Hazelcast cluster under a Vertx: how a process joins it, {@link io.regatta.node.cluster.ClusteredVertx}, and its
 * settings.
 */
package io.regatta.node.cluster;
