/**
 * Declared features: the transformation of a row of named columns into the floats and ids of an example. Training,
 * {@code analyze}, {@code predict} and {@code serve} call the same code. No files and no engine.
 * Part of the public API.
 */
package io.regatta.core.feature;
