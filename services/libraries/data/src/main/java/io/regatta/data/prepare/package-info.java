/**
 * Preparation of data before training: splitting, dictionaries, normalizing and hashing. {@code regatta prepare} calls
 * it; it blocks and uses no engine.
 */
package io.regatta.data.prepare;
