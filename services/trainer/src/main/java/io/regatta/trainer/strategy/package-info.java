/**
 * The trainer's side of the modes, as values: what is pushed and pulled, and when. Each mode is a folder below, with
 * its keys of the job file. {@code trainer.config.Strategies} is the registry, and {@code trainer.exchange} carries the
 * strategies out.
 */
package io.regatta.trainer.strategy;
