/**
 * The Hazelcast cluster under a Vertx: how a process joins it, {@link io.regatta.node.cluster.ClusteredVertx}, who may
 * be a member, {@link io.regatta.node.cluster.SecureChannel}, and its settings. Nothing outside of this package uses
 * Hazelcast's internal classes, which another version of Hazelcast may change without a word.
 */
package io.regatta.node.cluster;
