package io.regatta.protocol.stream;

/** Back-pressure past Vert.x. */
class BackPressureTest extends BackPressureContract {

  BackPressureTest() {
    super(Transport.GRPC, WINDOW);
  }
}
