/**
 * Data sets of fixed-width examples: sources and their layouts, loaders, cursors to resume from, and the policy for
 * bad lines. Reader threads read and parse text into primitive arrays; the data sets of the module {@code training}
 * make arrays of the engine from them, on the model thread.
 *
 * <p>Package {@code file} below is the base of this one; {@code format}, {@code text}, {@code image}, {@code uci} and
 * {@code generate} build on it. Part of the public API.
 */
package io.regatta.data;
