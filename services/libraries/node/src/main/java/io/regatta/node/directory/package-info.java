/**
 * Where the service instances are: {@link io.regatta.node.directory.Directory}, over Hazelcast or fixed by
 * configuration, and waiting for instances that are not there yet.
 */
package io.regatta.node.directory;
