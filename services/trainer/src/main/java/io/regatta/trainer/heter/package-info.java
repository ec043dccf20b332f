/**
 * The trainer's side of a cut network: streams to heter workers, and which of them computes its batches. Called by the
 * rank's session.
 */
package io.regatta.trainer.heter;
