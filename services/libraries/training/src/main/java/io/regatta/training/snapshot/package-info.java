/**
 * Snapshots from the trainers' side: when one is taken, its name, and where a run resumes. The training loop takes
 * them, and a run starts from them.
 */
package io.regatta.training.snapshot;
