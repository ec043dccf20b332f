/** Snapshots as a job's trainers see them: when one is taken, what it is called, and where a run goes on. */
package io.regatta.training.snapshot;
