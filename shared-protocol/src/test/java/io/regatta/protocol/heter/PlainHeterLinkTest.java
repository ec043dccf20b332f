package io.regatta.protocol.heter;

import io.regatta.protocol.stream.Transport;

/** A trainer's link to a heter worker, by Vert.x alone. */
class PlainHeterLinkTest extends HeterLinkContract {

  PlainHeterLinkTest() {
    super(Transport.GRPC_PLAIN);
  }
}
