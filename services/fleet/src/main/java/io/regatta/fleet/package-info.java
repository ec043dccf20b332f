/**
 * The entry to a distributed job: {@link io.regatta.fleet.Fleet} and its builder. User programs call it from their
 * main method, and nothing else of Regatta calls it. Part of the public API.
 */
package io.regatta.fleet;
