package io.regatta.node.cluster;

import java.io.EOFException;

/**
 * A connection that is not one between two members of this job. An {@link EOFException}, because Hazelcast logs the end
 * of a connection with any other as a fault of its own, with its stack trace; this one has been logged already.
 */
final class ConnectionRefused extends EOFException {

  private static final long serialVersionUID = 1;

  /** Reason of the side that connects if the other one shows no token that this process has. */
  static final String OTHER_TOKEN = "the member there has another token, or this one's token is not for members "
      + "(docs/security.md). Give all processes of the job the same one (node.token_file)";

  /** Reason of either side if the other one does not speak TLS. */
  static final String NO_TLS = "it does not speak TLS, and this process does; give all processes of the job the same "
      + "node.tls";

  /** The same of the side that connects. */
  static final String NO_TLS_THERE = NO_TLS + ". The cluster of another application is joined with "
      + "node.cluster.member_proof: false";

  /** Reason of either side if the other one speaks TLS and something else in it than members do. */
  static final String OTHER_PORT = "it speaks TLS, but not as a Hazelcast member of Regatta; node.cluster.seeds are "
      + "the Hazelcast ports of seeds, not their gRPC or admin ports";

  private final transient byte[] answer;

  /**
   * Creates a refusal.
   *
   * @param why continues "the connection from ADDRESS was refused:"
   * @param answer bytes that the other side gets before the connection ends; may be empty
   */
  ConnectionRefused(String why, byte[] answer) {
    super(why);
    this.answer = answer;
  }

  byte[] answer() {
    return answer;
  }
}
