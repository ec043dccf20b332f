/** Models that are loaded to predict: in a user's own process, by the command line, and as a service. */
package io.regatta.predictor;
