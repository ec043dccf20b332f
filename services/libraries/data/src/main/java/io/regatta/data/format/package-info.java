/**
 * File formats of examples: formats of lines, and sources of named columns. The programs' data loading and {@code
 * regatta predict} use them. Part of the public API.
 */
package io.regatta.data.format;
