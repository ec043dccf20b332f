package io.regatta.protocol.heter;

import io.regatta.protocol.stream.Transport;

/** A trainer's link to a heter worker whose payloads go by shared memory. */
class SharedHeterLinkTest extends HeterLinkContract {

  SharedHeterLinkTest() {
    super(Transport.GRPC_SHARED);
  }
}
