package io.regatta.protocol.stream;

/** Back-pressure by hand within one JVM. */
class HandoverBackPressureTest extends BackPressureContract {

  HandoverBackPressureTest() {
    super(Transport.AUTO, 0);
  }
}
