package io.regatta.protocol.security;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.file.SecretFile;
import io.regatta.protocol.vertx.NettyParts;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509KeyManager;

/** The content of {@link TlsFiles} at one moment, checked. Immutable. */
final class TlsMaterial {
  static final Set<String> PROTOCOLS = Set.of("TLSv1.3", "TLSv1.2");
  private static final String CERTIFICATE = "node.tls.certificate";
  private static final String KEY = "node.tls.key";
  private static final String CA = "node.tls.ca";
  private static final Map<String, String> SIGNATURES =
      Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA", "EdDSA", "EdDSA");

  private final TlsFiles files;
  private final Buffer certificate;
  private final Buffer key;
  private final Buffer ca;
  /** Null: none. */
  private final X509Certificate own;
  /** TLS of connections that Vert.x does not make. */
  private final SSLContext context;

  private TlsMaterial(TlsFiles files, Buffer certificate, Buffer key, Buffer ca, X509Certificate own,
      SSLContext context) {
    this.files = files;
    this.certificate = certificate;
    this.key = key;
    this.ca = ca;
    this.own = own;
    this.context = context;
  }

  /**
   * Reads the files. Blocks for the time of that.
   *
   * @throws InvalidInput one line with key and path of what is not there, is no PEM, is not valid now or does not fit
   */
  static TlsMaterial read(TlsFiles files) {
    Buffer ca = bytes(CA, files.ca());
    certificates(CA, files.ca(), ca);
    TrustManager[] trust = trust(files.ca(), ca);
    if (files.certificate() == null) {
      return new TlsMaterial(files, null, null, ca, null, context(null, trust));
    }
    Buffer certificate = bytes(CERTIFICATE, files.certificate());
    Buffer key = Buffer.buffer(SecretFile.read(KEY, files.key()));
    X509Certificate own = certificates(CERTIFICATE, files.certificate(), certificate).get(0);
    checkValid(files.certificate(), own);
    KeyManager[] identity = identity(files, own, certificate, key);
    return new TlsMaterial(files, certificate, key, ca, own, context(identity, trust));
  }

  private static Buffer bytes(String setting, Path file) {
    try {
      return Buffer.buffer(Files.readAllBytes(file));
    } catch (IOException e) {
      String why = e instanceof NoSuchFileException ? "no such file"
          : e instanceof AccessDeniedException ? "permission denied"
          : String.valueOf(e.getMessage());
      throw new InvalidInput(setting + " " + file.toAbsolutePath() + " cannot be read: " + why, e);
    }
  }

  private static List<X509Certificate> certificates(String setting, Path file, Buffer pem) {
    try {
      List<X509Certificate> found = new ArrayList<>();
      for (Certificate each : CertificateFactory.getInstance("X.509")
          .generateCertificates(new ByteArrayInputStream(pem.getBytes()))) {
        found.add((X509Certificate) each);
      }
      if (!found.isEmpty()) {
        return found;
      }
      throw new InvalidInput(setting + " " + file + " holds no certificate: give a PEM file");
    } catch (CertificateException e) {
      throw new InvalidInput(setting + " " + file + " is no certificate in PEM: " + e.getMessage(), e);
    }
  }

  private static TrustManager[] trust(Path file, Buffer ca) {
    try {
      TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(NettyParts.authorities(ca));
      return factory.getTrustManagers();
    } catch (Exception e) { // the library declares no narrower one
      throw new InvalidInput(CA + " " + file + " is no certificate in PEM that can be trusted: " + e.getMessage(), e);
    }
  }

  private static void checkValid(Path file, X509Certificate own) {
    try {
      own.checkValidity();
    } catch (CertificateExpiredException e) {
      throw new InvalidInput(CERTIFICATE + " " + file + " expired on " + own.getNotAfter().toInstant() + ": renew it",
          e);
    } catch (CertificateNotYetValidException e) {
      throw new InvalidInput(CERTIFICATE + " " + file + " is not valid before " + own.getNotBefore().toInstant()
          + ": look at this machine's clock", e);
    }
  }

  /** Returns the key and its certificate, which must verify what the key signs. */
  private static KeyManager[] identity(TlsFiles files, X509Certificate own, Buffer certificate, Buffer key) {
    String signature = SIGNATURES.get(own.getPublicKey().getAlgorithm());
    KeyManager[] identity;
    boolean fits;
    try {
      identity = new PemKeyCertOptions().addCertValue(certificate).addKeyValue(key).getKeyManagerFactory(null)
          .getKeyManagers(); // a Vertx would be asked for files, and these are values
      PrivateKey secret = privateKey(own, (X509KeyManager) identity[0]);
      if (secret != null && signature == null) {
        return identity; // a kind that the handshake will judge
      }
      fits = secret != null && verifies(signature, secret, own);
    } catch (Exception e) { // the library declares no narrower one
      throw new InvalidInput(KEY + " " + files.key() + " is no private key in PEM without a password, or not one for "
          + files.certificate() + ": " + e.getMessage(), e);
    }
    if (!fits) {
      throw new InvalidInput(KEY + " " + files.key() + " is not the key of " + CERTIFICATE + " " + files.certificate()
          + ": give the two that were made together");
    }
    return identity;
  }

  private static PrivateKey privateKey(X509Certificate own, X509KeyManager manager) {
    String[] names = manager.getServerAliases(own.getPublicKey().getAlgorithm(), null);
    return names == null || names.length == 0 ? null : manager.getPrivateKey(names[0]);
  }

  private static boolean verifies(String algorithm, PrivateKey secret, X509Certificate own)
      throws GeneralSecurityException {
    byte[] text = {1, 2, 3};
    Signature sign = Signature.getInstance(algorithm);
    sign.initSign(secret);
    sign.update(text);
    Signature verify = Signature.getInstance(algorithm);
    verify.initVerify(own.getPublicKey());
    verify.update(text);
    return verify.verify(sign.sign());
  }

  /**
   * Returns a TLS context. Also makes a first engine: the JVM's first one takes long, and a connected peer should not
   * wait for it.
   */
  private static SSLContext context(KeyManager[] identity, TrustManager[] trust) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(identity, trust, null);
      context.createSSLEngine();
      return context;
    } catch (GeneralSecurityException e) {
      throw new InvalidInput("the files of node.tls cannot be used: " + e.getMessage(), e);
    }
  }

  boolean hasCertificate() {
    return own != null;
  }

  /** Returns the identity; null if there is no certificate. */
  PemKeyCertOptions identity() {
    return own == null ? null : new PemKeyCertOptions().addCertValue(certificate).addKeyValue(key);
  }

  PemTrustOptions trust() {
    return new PemTrustOptions().addCertValue(ca);
  }

  /** Returns the options of a server that listens already. */
  ServerSSLOptions server(ClientAuth clients, boolean alpn) {
    ServerSSLOptions options = new ServerSSLOptions();
    options.setKeyCertOptions(identity()).setTrustOptions(trust()).setUseAlpn(alpn);
    options.setEnabledSecureTransportProtocols(PROTOCOLS);
    return options.setClientAuth(clients);
  }

  /** Returns the options of a client that has connected before. */
  ClientSSLOptions client(boolean alpn) {
    ClientSSLOptions options = new ClientSSLOptions();
    options.setTrustOptions(trust()).setUseAlpn(alpn);
    if (hasCertificate()) {
      options.setKeyCertOptions(identity());
    }
    options.setEnabledSecureTransportProtocols(PROTOCOLS);
    return options.setHostnameVerificationAlgorithm(files.verifyHost() ? "HTTPS" : "");
  }

  /**
   * Returns TLS of one connection that Vert.x does not make.
   *
   * @param client this process connects; otherwise it has accepted
   * @param host under which a client calls its peer, whose certificate must hold it; of a server the peer's address
   * @param application name of the protocol that both sides agree on (ALPN)
   */
  SSLEngine engine(boolean client, String host, int port, String application) {
    SSLEngine engine = context.createSSLEngine(host, port);
    engine.setUseClientMode(client);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setProtocols(PROTOCOLS.toArray(String[]::new));
    parameters.setApplicationProtocols(new String[] {application});
    if (client) {
      parameters.setEndpointIdentificationAlgorithm(files.verifyHost() ? "HTTPS" : null);
    } else {
      parameters.setNeedClientAuth(files.mutual());
    }
    engine.setSSLParameters(parameters);
    return engine;
  }

  /** Returns true if both were read from files of the same content. */
  boolean same(TlsMaterial other) {
    return ca.equals(other.ca) && (own == null ? other.own == null
        : certificate.equals(other.certificate) && key.equals(other.key));
  }

  @Override
  public String toString() {
    return own == null ? "no certificate"
        : "certificate of " + own.getSubjectX500Principal().getName() + ", valid until " + own.getNotAfter().toInstant();
  }
}
