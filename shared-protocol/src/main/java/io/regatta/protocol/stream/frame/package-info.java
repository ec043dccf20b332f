/**
 * The frames of a tensor stream: a message and a payload, their encoding and decoding. Streams and the codecs of
 * messages call it.
 */
package io.regatta.protocol.stream.frame;
