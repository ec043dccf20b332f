package io.regatta.protocol.stream;

/** Back-pressure in-process within one JVM. */
class HandoverBackPressureTest extends BackPressureContract {

  HandoverBackPressureTest() {
    super(Transport.AUTO, 0);
  }
}
