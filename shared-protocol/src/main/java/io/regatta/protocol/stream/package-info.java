/**
 * Tensor streams: frames of a message with a payload over HTTP/2, a Unix domain socket or shared memory. The clients
 * and servers in {@code protocol} call it.
 */
package io.regatta.protocol.stream;
