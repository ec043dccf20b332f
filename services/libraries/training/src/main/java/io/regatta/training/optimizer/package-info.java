/**
 * Optimizers of DJL that servers can apply as well. Programs give them to their training configuration, and the
 * training loop reads their rule. Part of the public API.
 */
package io.regatta.training.optimizer;
