/**
 * The Hazelcast member under a Vertx and the maps that its cluster shares. Below the directory and the cluster, which
 * use it.
 */
package io.regatta.node.member;
