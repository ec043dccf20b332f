/**
 * Models that are loaded to predict: in a user's own process, by the command line, and as a service. {@code serve}
 * and {@code predict} call it. Part of the public API.
 */
package io.regatta.predictor;
