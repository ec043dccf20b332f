/**
 * The Hazelcast cluster under a Vertx: {@link io.regatta.node.cluster.ClusteredVertx} joins it, {@link
 * io.regatta.node.cluster.SecureChannel} admits members. Nothing outside of this package uses Hazelcast's internal
 * classes, which another version of Hazelcast may change without notice. Part of the public API.
 */
package io.regatta.node.cluster;
