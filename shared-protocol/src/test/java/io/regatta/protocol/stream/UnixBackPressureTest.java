package io.regatta.protocol.stream;

/** Over a Unix domain socket. */
class UnixBackPressureTest extends BackPressureContract {

  UnixBackPressureTest() {
    super(Transport.GRPC_UNIX, WINDOW);
  }
}
