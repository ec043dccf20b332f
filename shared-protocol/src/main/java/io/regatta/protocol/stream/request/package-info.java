/**
 * Requests and their answers over a tensor stream, each in chunks. The serving side has a session, the asking side a
 * link. Those of shards and of heter workers extend them.
 */
package io.regatta.protocol.stream.request;
