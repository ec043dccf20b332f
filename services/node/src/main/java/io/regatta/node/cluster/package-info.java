/**
 * The Hazelcast cluster under a Vertx: how a process joins it, {@link io.regatta.node.cluster.ClusteredVertx}, who may
 * be a member, {@link io.regatta.node.cluster.MemberProof}, and its settings.
 */
package io.regatta.node.cluster;
