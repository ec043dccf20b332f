/** The features that a job declares, as programs read them. Part of the public API. */
package io.regatta.training.feature;
