package io.regatta.protocol.shard;

import io.regatta.protocol.stream.Transport;

/** An in-process session within one JVM. */
class HandoverShardStreamSessionTest extends ShardStreamSessionContract {

  HandoverShardStreamSessionTest() {
    super(Transport.AUTO);
  }
}
