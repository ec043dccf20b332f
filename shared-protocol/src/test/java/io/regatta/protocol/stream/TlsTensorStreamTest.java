package io.regatta.protocol.stream;

import io.regatta.protocol.testing.Certificates;

/** Streams over HTTP/2 with mutual TLS and a token, past Vert.x. */
class TlsTensorStreamTest extends HttpStreamContract {

  TlsTensorStreamTest() {
    super(Transport.GRPC, Certificates.ofThisJvm());
  }
}
