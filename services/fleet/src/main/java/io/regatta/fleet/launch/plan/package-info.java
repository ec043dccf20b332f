/**
 * The plan of a launched job: which processes with which variables on which machines. The launchers in {@code launch}
 * and {@code launch.remote} carry it out.
 */
package io.regatta.fleet.launch.plan;
