/**
 * What tensor streams write to and read from a connection of Netty below Vert.x's own API. Only {@code protocol.stream}
 * calls it.
 */
package io.regatta.protocol.http2;
