/**
 * The load test of small messages beside gRPC's own clients. The door to the load tests calls its driver.
 */
package io.regatta.load.small;
