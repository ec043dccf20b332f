/**
 * The messages of collective calls between two ranks, and their receiver. The collective module calls it.
 */
package io.regatta.protocol.rank;
