package io.regatta.protocol.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that do not do are refused at the start, in one line that names the key and the file. */
class TlsMaterialTest {
  @TempDir
  Path directory;

  private static void refused(Path certificate, Path key, Path ca, String... words) {
    assertThatThrownBy(() -> PeerSecurity.of(new TlsFiles(certificate, key, ca, true, true), Token.NONE))
        .isInstanceOf(InvalidInput.class).hasMessageContainingAll(words).message().doesNotContain("\n");
  }

  @Test
  void what_is_wrong_with_a_file_is_said() throws IOException {
    Certificates certificates = new Certificates(directory);
    Pem node = certificates.issue("ca", "node");
    Pem other = certificates.issue("ca", "other");
    Pem expired = certificates.issueExpired("ca", "expired");
    Path nothing = directory.resolve("nothing.pem");
    Path text = SecretFiles.write(directory.resolve("text.pem"), "no certificate");
    refused(node.certificate(), node.key(), nothing, "node.tls.ca", nothing.toString(), "no such file");
    refused(node.certificate(), nothing, node.ca(), "node.tls.key", nothing.toString(), "no such file");
    refused(text, node.key(), node.ca(), "node.tls.certificate", text.toString(), "certificate");
    refused(node.certificate(), node.key(), text, "node.tls.ca", text.toString(), "certificate");
    refused(node.certificate(), text, node.ca(), "node.tls.key", text.toString(), "private key");
    refused(node.certificate(), other.key(), node.ca(), "node.tls.key", other.key().toString(), "not the key of");
    Path der = Files.write(directory.resolve("ca.der"), Base64.getMimeDecoder().decode(Files.readString(node.ca())
        .replaceAll("-----.*-----", "")));
    refused(node.certificate(), node.key(), der, "node.tls.ca", der.toString(), "PEM"); // which the JDK alone would take
    refused(expired.certificate(), expired.key(), expired.ca(), "node.tls.certificate", "expired on", "renew it");
    assertThat(PeerSecurity.of(node.files(), Token.NONE).toString()).contains("mutual TLS", "CN=node", "no token");
  }

  @Test
  void a_token_is_no_guess_and_is_shown_by_nothing() {
    assertThatThrownBy(() -> Token.of("short", "node.token")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("node.token").message().doesNotContain("short:");
    assertThatThrownBy(() -> Token.of("sixteen letters and more", "node.token")).hasMessageContaining("without a space");
    Token token = Token.of("0123456789abcdef", "a test");
    assertThat(token.toString()).doesNotContain("0123");
    assertThat(token.isShownBy("Bearer 0123456789abcdef")).isTrue();
    assertThat(token.isShownBy("Bearer 0123456789abcdeF")).isFalse();
    assertThat(token.isShownBy("Bearer 0123456789abcde")).isFalse();
    assertThat(token.isShownBy("Basic 0123456789abcdef")).isFalse();
    assertThat(token.isShownBy(null)).isFalse();
    assertThat(Token.NONE.isShownBy(null)).isTrue();
    assertThat(token).isEqualTo(Token.of("0123456789abcdef", "elsewhere")).isNotEqualTo(Token.NONE);
  }
}
