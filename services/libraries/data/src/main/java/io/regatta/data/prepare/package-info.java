/** What is done to data before training: cutting into parts, dictionaries, normalising and hashing. Blocks; no engine. */
package io.regatta.data.prepare;
