/**
 * Networks over declared features beside the sums of parts in {@code block}: products of vectors, attention, several
 * labels, users and items. Part of the public API.
 */
package io.regatta.program.network;
