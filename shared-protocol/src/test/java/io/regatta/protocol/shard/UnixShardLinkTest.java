package io.regatta.protocol.shard;

import io.regatta.protocol.stream.Transport;

/** A link over a Unix domain socket. */
class UnixShardLinkTest extends ShardLinkContract {

  UnixShardLinkTest() {
    super(Transport.GRPC_UNIX);
  }
}
