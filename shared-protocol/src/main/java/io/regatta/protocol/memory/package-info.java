/**
 * Memory that lies outside the heap or is shared with another process of the same machine. Tensor streams and
 * collectives call it.
 */
package io.regatta.protocol.memory;
