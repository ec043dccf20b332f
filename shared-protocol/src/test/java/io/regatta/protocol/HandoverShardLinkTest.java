package io.regatta.protocol;

import io.regatta.protocol.stream.Transport;

/** A trainer's link by hand within one JVM. */
class HandoverShardLinkTest extends ShardLinkContract {

  HandoverShardLinkTest() {
    super(Transport.AUTO);
  }
}
