package io.regatta.protocol.stream;

/** Back-pressure by Vert.x alone. */
class PlainBackPressureTest extends BackPressureContract {

  PlainBackPressureTest() {
    super(Transport.GRPC_PLAIN, WINDOW);
  }
}
