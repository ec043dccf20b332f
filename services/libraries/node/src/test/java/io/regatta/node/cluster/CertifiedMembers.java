package io.regatta.node.cluster;

import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The members of one test, and the certificates of its class: those of a CA that all members trust, and others. */
abstract class CertifiedMembers {

  @TempDir
  static Path made;
  static Certificates certificates;
  /** Certificate and key of a member. */
  static Pem pem;

  @TempDir
  Path dir;
  @RegisterExtension
  final TlsMembers members = new TlsMembers();

  @BeforeAll
  static void certify() {
    certificates = new Certificates(made);
    pem = certificates.issue("ca", "node");
  }
}
