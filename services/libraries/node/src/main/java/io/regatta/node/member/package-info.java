/** The Hazelcast member under a Vertx, and the maps that its cluster shares. The directory and the cluster use it. */
package io.regatta.node.member;
