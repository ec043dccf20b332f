package io.regatta.protocol.shard;

import io.regatta.protocol.stream.Transport;

/** A trainer's in-process link within one JVM. */
class HandoverShardLinkTest extends ShardLinkContract {

  HandoverShardLinkTest() {
    super(Transport.AUTO);
  }
}
