package io.regatta.protocol.stream;

/** Streams over HTTP/2, past Vert.x. */
class TensorStreamTest extends HttpStreamContract {

  TensorStreamTest() {
    super(Transport.GRPC);
  }
}
