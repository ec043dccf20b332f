/**
 * The runtime common to every process, used by authors of services. {@link io.regatta.node.Node} holds a Vertx, a
 * directory of service instances, metrics and the admin server. {@link io.regatta.node.ServiceMain} is the main of a
 * service. Each package below is one capability. They depend on each other in one direction, without circles, and only
 * {@code group} depends on this one. Part of the public API.
 */
package io.regatta.node;
