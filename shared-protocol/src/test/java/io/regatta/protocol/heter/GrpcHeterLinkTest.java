package io.regatta.protocol.heter;

import io.regatta.protocol.stream.Transport;

/** A trainer's link to a heter worker, over HTTP/2, past Vert.x. */
class GrpcHeterLinkTest extends HeterLinkContract {

  GrpcHeterLinkTest() {
    super(Transport.GRPC);
  }
}
