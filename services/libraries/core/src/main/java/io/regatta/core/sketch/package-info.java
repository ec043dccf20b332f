/**
 * Summaries of many values in little memory, with stated errors, that can be merged. The statistics of features call
 * them. Part of the public API.
 */
package io.regatta.core.sketch;
