package io.regatta.protocol.shard;

import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.testing.Certificates;

/** Sessions whose peers have shown a certificate and the token. */
class TlsShardStreamSessionTest extends ShardStreamSessionContract {

  TlsShardStreamSessionTest() {
    super(Transport.GRPC, Certificates.ofThisJvm());
  }
}
