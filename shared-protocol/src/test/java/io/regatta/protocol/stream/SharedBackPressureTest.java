package io.regatta.protocol.stream;

/** By shared memory. */
class SharedBackPressureTest extends BackPressureContract {

  SharedBackPressureTest() {
    super(Transport.GRPC_SHARED, WINDOW);
  }
}
