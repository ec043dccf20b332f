/**
 * Requests and their answers over a tensor stream, each in chunks: the session of the side that serves, the link of the
 * side that asks, and the assembly of a message. Links and sessions of shards and of heter workers extend them.
 */
package io.regatta.protocol.stream.request;
