/** Search for hyperparameters: ranges from which values are drawn, and schedules of trials. */
package io.regatta.core.search;
