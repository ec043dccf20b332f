/**
 * The access of tensor streams to a connection of Netty below Vert.x's own API, for writing and reading. Only
 * {@code protocol.stream} calls it.
 */
package io.regatta.protocol.http2;
