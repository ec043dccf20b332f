/**
 * Examples of declared features: sources over rows of named columns, the split into training and test rows, and the
 * statistics of training rows. Part of the public API.
 */
package io.regatta.data.feature;
