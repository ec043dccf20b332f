/**
 * The run of a program at a heter worker. It goes as far as {@code trainer.initialize}, where it serves batches until
 * the job has ended. The same can be done within the process of a trainer. The services and commands call it.
 */
package io.regatta.training.heter.run;
