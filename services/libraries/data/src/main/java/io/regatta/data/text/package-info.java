/**
 * Text as words: dictionaries, windows and pairs of words. The word2vec programs and {@code regatta prepare
 * dictionary} use it. Part of the public API.
 */
package io.regatta.data.text;
