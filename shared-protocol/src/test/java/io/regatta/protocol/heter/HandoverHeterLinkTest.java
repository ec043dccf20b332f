package io.regatta.protocol.heter;

import io.regatta.protocol.stream.Transport;

/** A trainer's link to a heter worker, in-process. */
class HandoverHeterLinkTest extends HeterLinkContract {

  HandoverHeterLinkTest() {
    super(Transport.AUTO);
  }
}
