/** The sections of a job about evaluation during training, and what follows from it. Part of the public API. */
package io.regatta.training.config.validation;
