/** The configuration of a job and of a trainer: the records of a job file and of the section {@code trainer}. */
package io.regatta.trainer.config;
