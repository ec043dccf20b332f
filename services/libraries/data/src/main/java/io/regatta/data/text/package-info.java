/** Text in words: dictionaries, windows and pairs of words. */
package io.regatta.data.text;
