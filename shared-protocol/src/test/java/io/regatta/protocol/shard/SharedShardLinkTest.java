package io.regatta.protocol.shard;

import io.regatta.protocol.stream.Transport;

/** A link whose payloads go by shared memory. */
class SharedShardLinkTest extends ShardLinkContract {

  SharedShardLinkTest() {
    super(Transport.GRPC_SHARED);
  }
}
