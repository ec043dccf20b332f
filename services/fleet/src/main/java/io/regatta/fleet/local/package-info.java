/**
 * Whole jobs in one JVM: {@link io.regatta.fleet.local.LocalCluster} and the parity checks that compare such runs.
 * The commands {@code simulate} and {@code parity} call it, and so do programs that test or measure jobs.
 * Part of the public API.
 */
package io.regatta.fleet.local;
