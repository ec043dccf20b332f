package io.regatta.protocol.stream;

/** The same streams by the public interfaces of Vert.x alone. */
class PlainTensorStreamTest extends HttpStreamContract {

  PlainTensorStreamTest() {
    super(Transport.GRPC_PLAIN);
  }
}
