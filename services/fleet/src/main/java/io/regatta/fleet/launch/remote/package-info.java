/**
 * The launch of a job on other machines through ssh. The command {@code regatta launch --hosts} calls it.
 */
package io.regatta.fleet.launch.remote;
