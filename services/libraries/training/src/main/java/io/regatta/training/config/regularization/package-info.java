/** The sections of a job that keep a network from learning its training rows by heart. Part of the public API. */
package io.regatta.training.config.regularization;
