package io.regatta.protocol.security;

import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.ssl.NotSslRecordException;
import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.connection.PeerLog;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The explanation of a failed connection as far as TLS has caused it: which side refused the other one, and what to do.
 * A failure that repetition cannot mend is an {@link InvalidInput}. Stateless, any thread.
 */
public final class ConnectFailure {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectFailure.class);
  private static final PeerLog LINES = new PeerLog(LOG);
  private static final String ALERT = "Received fatal alert: ";
  private static final String CLOSED = "Connection was closed";
  private static final String CUT = "Connection closed while";

  private ConnectFailure() {}

  /**
   * Returns why a peer could not be connected to, if no second try will mend it.
   *
   * @param peer e.g. {@code parameter server at 10.0.0.7:36000}
   * @return the failure itself if it says so, as that of a peer that has not proved the token; null if it has nothing
   *     to do with TLS, for all that is known
   */
  public static InvalidInput refusal(String peer, Throwable failure, PeerSecurity security) {
    if (failure instanceof InvalidInput unproved) {
      return unproved;
    }
    if (!security.hasTls() || isClosed(failure)) {
      return null;
    }
    String tls = null;
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String said = said(cause, String.valueOf(cause.getMessage()));
      tls = said != null ? said : tls; // the innermost knows best
    }
    return tls != null ? new InvalidInput("no TLS with " + peer + ": " + tls, failure) : null;
  }

  /**
   * Returns what TLS may have to do with a connection that was closed at once: a server refuses a certificate after
   * the handshake, without a word.
   *
   * @return an addition to the message; empty if TLS has nothing to do with it
   */
  public static String hint(Throwable failure, PeerSecurity security) {
    if (!isClosed(failure)) {
      return "";
    } else if (failure instanceof SSLException) {
      return " (in the TLS handshake: does it speak TLS? node.tls)";
    } else if (!security.hasTls()) {
      return " (if it speaks TLS, this process must, too: node.tls)";
    }
    return security.isMutual() ? " (right behind the TLS handshake: if it is not shutting down, it refuses this "
        + "process's certificate, which is missing, has expired or is of a CA that it does not trust; "
        + "node.tls.certificate here, node.tls.ca there)"
        : " (right behind the TLS handshake: if it is not shutting down, it wants a certificate of this process; "
        + "node.tls.certificate and node.tls.key)";
  }

  private static String said(Throwable cause, String text) {
    String shown = PeerText.of(text);
    if (cause instanceof NotSslRecordException || text.contains("not an SSL/TLS record")) {
      return "it does not speak TLS, and this process does; give both sides the same node.tls";
    } else if (cause instanceof CertificateExpiredException || isExpired(cause)) {
      return "its certificate has expired: renew it there (" + shown + ")";
    } else if (cause instanceof CertificateNotYetValidException) {
      return "its certificate is not valid yet: look at the clocks of both machines (" + shown + ")";
    } else if (text.contains("subject alternative") || text.contains("No name matching")) {
      return "its certificate is another host's: put the host or address into its subject alternative names, or take "
          + "node.tls.verify_host: false, which trusts all that node.tls.ca has signed (" + shown + ")";
    } else if (text.contains("unable to find valid certification path") || text.contains("Path does not chain")) {
      return "its certificate is not signed by a CA of node.tls.ca here: give all processes of the job certificates of "
          + "one CA";
    } else if (text.startsWith(ALERT)) {
      return "it refuses this process (" + PeerText.of(text.substring(ALERT.length())) + "): it wants a certificate that is valid and "
          + "of a CA that it trusts (node.tls.certificate and node.tls.key here, node.tls.ca there)";
    } else if (cause instanceof SSLException || cause instanceof CertificateException) {
      return shown;
    }
    return null;
  }

  private static boolean isExpired(Throwable cause) {
    return cause instanceof CertPathValidatorException path && path.getReason() == BasicReason.EXPIRED;
  }

  private static boolean isClosed(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof ClosedChannelException || isCut(cause)) {
        return true;
      }
    }
    return failure instanceof Http2Exception || CLOSED.equals(failure.getMessage());
  }

  private static boolean isOfTls(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SSLException || cause instanceof CertificateException) {
        return true;
      }
    }
    return false;
  }

  private static boolean isCut(Throwable cause) {
    return cause instanceof SSLException && String.valueOf(cause.getMessage()).startsWith(CUT);
  }

  /** Logs that a client was refused, for the user of the server; the client's own message is for its user. */
  static void ofClient(Throwable failure) {
    if (isClosed(failure) || !isOfTls(failure)) {
      return; // it only looked whether somebody listens, or sent something within TLS that cannot be read
    }
    LINES.warn("a client was refused in the TLS handshake: {}", failure.getMessage());
    LOG.debug("a client was refused in the TLS handshake", failure);
  }
}
