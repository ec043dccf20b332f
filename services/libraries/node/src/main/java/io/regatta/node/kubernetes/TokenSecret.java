package io.regatta.node.kubernetes;

import io.regatta.protocol.security.Macs;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.Map;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The program that makes the token of a job as a Secret of Kubernetes, unless there is one: 256 random bits, under the
 * key {@code token}. It runs in a pod whose service account may create Secrets, and asks the API server of the cluster.
 * The Secret belongs to that service account, so that deleting the manifests deletes it. Made of the JDK and JSON alone.
 */
public final class TokenSecret {

  /** Directory of a pod's service account. */
  private static final Path ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");
  private static final int SILENCE_MILLIS = 10_000;
  private static final int ANSWER_CHARACTERS = 500;

  private TokenSecret() {}

  /**
   * Makes the Secret, or leaves the one that is there.
   *
   * @param args the name of the Secret
   */
  public static void main(String[] args) {
    System.exit(run(ACCOUNT, System.getenv(), args));
  }

  /**
   * Returns the exit status: 0 if the Secret is there now.
   *
   * @param account directory of the service account: {@code ca.crt}, {@code namespace} and {@code token}
   * @param environment has the address of the API server, as Kubernetes gives it to each pod
   */
  static int run(Path account, Map<String, String> environment, String... args) {
    String host = environment.getOrDefault("KUBERNETES_SERVICE_HOST", "");
    String port = environment.getOrDefault("KUBERNETES_SERVICE_PORT", "443");
    if (args.length != 1 || host.isEmpty()) {
      System.err.println("this program makes a Secret in a cluster of Kubernetes: it takes the Secret's name, and runs in a pod, where "
          + "KUBERNETES_SERVICE_HOST is set");
      return 1;
    }
    String name = args[0];
    String api = "https://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    try {
      String namespace = text(account, "namespace");
      String bearer = text(account, "token");
      HttpsURLConnection request = (HttpsURLConnection) URI.create(api + "/api/v1/namespaces/" + namespace + "/secrets").toURL()
          .openConnection();
      request.setSSLSocketFactory(trusting(account.resolve("ca.crt")).getSocketFactory());
      request.setConnectTimeout(SILENCE_MILLIS);
      request.setReadTimeout(SILENCE_MILLIS);
      request.setRequestMethod("POST");
      request.setRequestProperty("Authorization", "Bearer " + bearer);
      request.setRequestProperty("Content-Type", "application/json");
      request.setDoOutput(true);
      try (OutputStream out = request.getOutputStream()) {
        out.write(secret(name, namespace, claims(bearer)).encode().getBytes(StandardCharsets.UTF_8));
      }
      return reported(name, namespace, request);
    } catch (IOException | GeneralSecurityException | DecodeException | IllegalArgumentException e) {
      System.err.println("Secret " + name + " not made: no answer of the API server at " + api + ": " + e
          + ". See that the network policy lets this pod reach it, and that the directory of the service account is mounted");
      return 1;
    }
  }

  private static int reported(String name, String namespace, HttpsURLConnection request) throws IOException {
    int status = request.getResponseCode();
    if (status == HttpsURLConnection.HTTP_CREATED) {
      System.out.println("Secret " + name + " made in namespace " + namespace + ": a token of " + 8 * Macs.BYTES + " random bits");
      return 0;
    }
    if (status == HttpsURLConnection.HTTP_CONFLICT) {
      System.out.println("Secret " + name + " is there already in namespace " + namespace + "; it is left as it is");
      return 0;
    }
    String answer = "";
    try (InputStream in = request.getErrorStream()) {
      answer = in == null ? "" : new String(in.readNBytes(ANSWER_CHARACTERS), StandardCharsets.UTF_8).replaceAll("\\s+", " ");
    }
    System.err.println("Secret " + name + " not made in namespace " + namespace + ": the API server answers " + status + " " + answer
        + ". The service account needs a Role that may create secrets; or make the Secret by hand, with a key token");
    return 1;
  }

  /** Returns the Secret as the API wants it, owned by the service account that makes it. */
  private static JsonObject secret(String name, String namespace, JsonObject account) {
    return new JsonObject().put("apiVersion", "v1").put("kind", "Secret").put("type", "Opaque")
        .put("metadata", new JsonObject().put("name", name).put("namespace", namespace)
            .put("labels", new JsonObject().put("app.kubernetes.io/part-of", "regatta"))
            .put("ownerReferences", new JsonArray().add(new JsonObject().put("apiVersion", "v1").put("kind", "ServiceAccount")
                .put("name", account.getString("name")).put("uid", account.getString("uid")))))
        .put("data", new JsonObject().put("token", base64(Macs.randomText(Macs.BYTES))));
  }

  /** Returns the form in which the API takes a value: with padding, which the form of Vert.x for bytes lacks. */
  private static String base64(String value) {
    return Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.US_ASCII));
  }

  /**
   * Returns name and uid of the service account, read from its own token (RFC 7519); the API server verifies the token.
   */
  private static JsonObject claims(String bearer) {
    String[] parts = bearer.split("\\.");
    if (parts.length != 3) {
      throw new IllegalArgumentException("the token of the service account is not a JSON Web Token");
    }
    JsonObject claims = new JsonObject(new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8));
    JsonObject account = claims.getJsonObject("kubernetes.io", new JsonObject()).getJsonObject("serviceaccount");
    if (account == null) {
      throw new IllegalArgumentException("the token of the service account names no service account");
    }
    return account;
  }

  private static SSLContext trusting(Path ca) throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (InputStream in = Files.newInputStream(ca)) {
      int n = 0;
      for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        trusted.setCertificateEntry("ca-" + n++, certificate);
      }
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(null, trust.getTrustManagers(), null);
    return tls;
  }

  private static String text(Path account, String name) throws IOException {
    return Files.readString(account.resolve(name)).strip();
  }
}
