package io.regatta.protocol.stream;

import io.regatta.protocol.testing.Certificates;

/** Encrypted, nothing more is held back. */
class TlsBackPressureTest extends BackPressureContract {

  TlsBackPressureTest() {
    super(Transport.GRPC, Certificates.ofThisJvm(), WINDOW, FEW_FRAMES);
  }
}
