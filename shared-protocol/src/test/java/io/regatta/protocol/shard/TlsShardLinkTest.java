package io.regatta.protocol.shard;

import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.testing.Certificates;

/** A link with mutual TLS and a token. */
class TlsShardLinkTest extends ShardLinkContract {

  TlsShardLinkTest() {
    super(Transport.GRPC, Certificates.ofThisJvm());
  }
}
