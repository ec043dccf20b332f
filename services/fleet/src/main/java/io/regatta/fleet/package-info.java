/**
 * The programming interface of a distributed job: {@link io.regatta.fleet.Fleet} and its builder. User programs call it from their
 * main method, and nothing else of Regatta does.
 */
package io.regatta.fleet;
