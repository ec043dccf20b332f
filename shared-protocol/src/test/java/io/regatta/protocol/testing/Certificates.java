package io.regatta.protocol.testing;

import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.TlsFiles;
import io.regatta.protocol.security.Token;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Certificates for tests, made by the JDK's keytool when they are asked for, so that none lies about and expires. Each CA is a key
 * store in a directory; what it issues holds 127.0.0.1 and localhost.
 */
public final class Certificates {
  private static final char[] PASSWORD = "password".toCharArray();
  private static final String HOSTS = "san=ip:127.0.0.1,dns:localhost";

  private final Path directory;
  /** Certificates by their names. */
  private final Map<String, Pem> issued = new ConcurrentHashMap<>();

  /**
   * PEM files of a certificate, of its key, and of the CA that has signed it.
   *
   * @param ca to be trusted
   */
  public record Pem(Path certificate, Path key, Path ca) {

    /** Mutual TLS with them. */
    public TlsFiles files() {
      return new TlsFiles(certificate, key, ca, true, true);
    }
  }

  /**
   * Returns a context of TLS that trusts every peer.
   *
   * @param own certificate and key that it shows; null: none
   */
  public static SSLContext trustAll(Pem own) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(own == null ? null : new PemKeyCertOptions()
          .addCertValue(Buffer.buffer(Files.readAllBytes(own.certificate())))
          .addKeyValue(Buffer.buffer(Files.readAllBytes(own.key()))).getKeyManagerFactory(null).getKeyManagers(),
          new TrustManager[] {new TrustAll()}, null);
      context.getClientSessionContext().setSessionCacheSize(1); // by default it keeps those of 20,480
      return context;
    } catch (Exception e) { // as the key manager factory declares
      throw new IllegalStateException("no TLS with " + own, e);
    }
  }

  private static final class TrustAll extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  /** @param directory of the test; what is made there stays until it goes */
  public Certificates(Path directory) {
    this.directory = directory;
  }

  /** Returns the security of this JVM, made once: mutual TLS and a token. */
  public static PeerSecurity ofThisJvm() {
    return Jvm.SECURITY;
  }

  private static final class Jvm {
    private static final PeerSecurity SECURITY = make();

    private static PeerSecurity make() {
      try {
        Path directory = Files.createTempDirectory("regatta-certificates");
        try {
          return PeerSecurity.of(new Certificates(directory).issue("ca", "node").files(),
              Token.of("the-token-of-these-tests", "a test"));
        } finally {
          try (Stream<Path> files = Files.list(directory)) { // what has been read is not needed any more
            files.forEach(Certificates::delete);
          }
          Files.delete(directory);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the certificate of this name for this machine's loopback, valid today; it is made once. */
  public Pem issue(String ca, String name) {
    return issued(ca, name, "-ext", HOSTS, "-validity", "2");
  }

  /** Returns one that was valid until yesterday. */
  public Pem issueExpired(String ca, String name) {
    return issued(ca, name, "-ext", HOSTS, "-startdate", "-3d", "-validity", "1");
  }

  /** Returns one for another host. */
  public Pem issueFor(String host, String ca, String name) {
    return issued(ca, name, "-ext", "san=dns:" + host, "-validity", "2");
  }

  private Pem issued(String ca, String name, String... options) {
    return issued.computeIfAbsent(name, made -> make(ca, name, options));
  }

  private Pem make(String ca, String name, String... options) {
    Path store = directory.resolve(ca + ".p12");
    try {
      if (!Files.exists(store)) {
        keytool(store, "ca", ca, "-ext", "bc:critical=ca:true", "-startdate", "-4d", "-validity", "6");
        try (InputStream in = Files.newInputStream(store)) {
          KeyStore keys = KeyStore.getInstance("PKCS12");
          keys.load(in, PASSWORD);
          Files.writeString(directory.resolve(ca + ".pem"), pem("CERTIFICATE", keys.getCertificate("ca").getEncoded()));
        }
      }
      keytool(store, name, name, Stream.concat(Stream.of("-signer", "ca"), Stream.of(options)).toArray(String[]::new));
      return export(store, name, directory.resolve(ca + ".pem"));
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException("cannot make certificate " + name + " of " + ca, e);
    }
  }

  private Pem export(Path store, String name, Path ca) throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD);
    }
    StringBuilder chain = new StringBuilder();
    for (Certificate each : keys.getCertificateChain(name)) {
      chain.append(pem("CERTIFICATE", each.getEncoded()));
    }
    Path certificate = Files.writeString(directory.resolve(name + ".crt"), chain);
    Path key = SecretFiles.write(directory.resolve(name + ".key"),
        pem("PRIVATE KEY", keys.getKey(name, PASSWORD).getEncoded()));
    return new Pem(certificate, key, ca);
  }

  private static String pem(String what, byte[] der) {
    return "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + what
        + "-----\n";
  }

  private void keytool(Path store, String alias, String name, String... options) throws IOException {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
        "-J-Xshare:auto", "-J-XX:TieredStopAtLevel=1", "-genkeypair", "-alias", alias, "-keyalg", "EC", "-groupname", "secp256r1",
        "-dname", "CN=" + name, "-storetype", "PKCS12", "-keystore", store.toString(), "-storepass", new String(PASSWORD)));
    command.addAll(List.of(options));
    Path log = directory.resolve("keytool.log");
    Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException("keytool has not made " + alias + ": " + Files.readString(log));
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
