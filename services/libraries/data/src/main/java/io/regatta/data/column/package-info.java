/**
 * Facts of the columns of a table: types, distinct values, ranges, and what a column alone says about the label.
 * Part of the public API.
 */
package io.regatta.data.column;
