/** What a job and a trainer are told: the records behind a job file and the section {@code trainer}. */
package io.regatta.training.config;
