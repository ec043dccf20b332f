/**
 * The optimizer that DJL is given in place of its own: servers apply it. Programs give it to their training configuration, and the
 * training loop reads its specification.
 */
package io.regatta.trainer.optimizer;
