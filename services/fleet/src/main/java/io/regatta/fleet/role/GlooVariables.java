package io.regatta.fleet.role;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * Where Fleet's processes would meet over gloo. Here they always have a rendezvous, so nothing follows; what is wrong is
 * refused as there, because it would be wrong for the peers, too.
 */
final class GlooVariables {

  private static final String WITH = "PADDLE_WITH_GLOO";
  private static final String RENDEZVOUS = "PADDLE_GLOO_RENDEZVOUS";
  private static final String WRONG = "gloo initialized error, please check arguments";

  private GlooVariables() {}

  static void read(Variables variables, Findings found) {
    if (!variables.has(WITH)) {
      return;
    }
    int with = variables.number(WITH, 0, 0);
    if (with == 0) {
      found.reading(WITH, "0", "none");
      return;
    }
    int kind = variables.number(RENDEZVOUS, 0, 0);
    switch (kind) {
      case 1 -> needs(variables, "PADDLE_GLOO_FS_NAME", "PADDLE_GLOO_FS_UGI", "PADDLE_GLOO_FS_PATH");
      case 2 -> needs(variables, "PADDLE_GLOO_FS_PATH");
      case 3 -> needs(variables, "PADDLE_GLOO_HTTP_ENDPOINT");
      default -> throw new InvalidInput(WRONG + ": " + RENDEZVOUS + " must be 1 (HDFS), 2 (files) or 3 (HTTP), but is "
          + variables.text(RENDEZVOUS, "not set"));
    }
    found.reading(WITH, Integer.toString(with), "barriers and reductions of workers go through the rendezvous and the "
        + "tensor streams");
    found.reading(RENDEZVOUS, Integer.toString(kind), "none: the rendezvous is a part of the job");
  }

  private static void needs(Variables variables, String... names) {
    for (String name : names) {
      if (!variables.has(name)) {
        throw new InvalidInput(WRONG + ": with " + RENDEZVOUS + " = " + variables.text(RENDEZVOUS) + " " + name
            + " must be set");
      }
    }
  }
}
