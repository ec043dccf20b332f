/**
 * Generated data sets whose best possible result is known, for use where no data are given. Programs and {@code
 * regatta prepare} create them. Part of the public API.
 */
package io.regatta.data.generate;
