/** The section of a job about the search for its hyperparameters. Part of the public API. */
package io.regatta.training.config.tuning;
