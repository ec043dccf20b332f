/**
 * What every process does alike. {@link io.regatta.node.Settings} reads the configuration into records;
 * {@link io.regatta.node.Node} holds a Vertx (clustered by {@link io.regatta.node.ClusteredVertx}), a
 * {@link io.regatta.node.Directory} of service instances, metrics, {@link io.regatta.node.Waits} and the
 * {@link io.regatta.node.AdminServer}; {@link io.regatta.node.ServiceMain} is the main of a service's jar.
 */
package io.regatta.node;
