/**
 * The register of service instances, {@link io.regatta.node.directory.Directory}, over Hazelcast or fixed by
 * configuration, and waits for instances that are not there yet. Services register; their clients look up and wait.
 * Part of the public API.
 */
package io.regatta.node.directory;
