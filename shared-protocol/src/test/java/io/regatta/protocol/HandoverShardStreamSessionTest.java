package io.regatta.protocol;

import io.regatta.protocol.stream.Transport;

/** A session by hand within one JVM. */
class HandoverShardStreamSessionTest extends ShardStreamSessionContract {

  HandoverShardStreamSessionTest() {
    super(Transport.AUTO);
  }
}
