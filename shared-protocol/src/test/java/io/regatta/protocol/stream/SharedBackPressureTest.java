package io.regatta.protocol.stream;

/** Back-pressure with shared memory. */
class SharedBackPressureTest extends BackPressureContract {

  SharedBackPressureTest() {
    super(Transport.GRPC_SHARED, WINDOW);
  }
}
