package io.regatta.fleet.role;

/**
 * The variables with which Fleet's processes would rendezvous over gloo. Here they have a rendezvous, or a job's own
 * store, so nothing follows from them. Wrong values are refused as there, because they would be wrong for the peers,
 * too. Over HTTP, jobs with parameter servers use an endpoint of its own, and collective ones the first trainer's.
 */
final class GlooVariables {

  private static final String WITH = "PADDLE_WITH_GLOO";
  private static final String RENDEZVOUS = "PADDLE_GLOO_RENDEZVOUS";
  private static final String HTTP = "PADDLE_GLOO_HTTP_ENDPOINT";
  private static final String PATH = "PADDLE_GLOO_FS_PATH";
  private static final String UNUSED = "none: the rendezvous is a part of the job";
  private static final String WRONG = "gloo initialized error, please check arguments";

  private GlooVariables() {}

  /**
   * Reads the variables.
   *
   * @param servers whether the job has parameter servers
   */
  static void read(EnvironmentVariables variables, EnvironmentReadings found, boolean servers) {
    if (!variables.has(WITH)) {
      return;
    }
    String with = variables.text(WITH);
    switch (with) {
      case "0" -> {
        found.reading(WITH, with, "none");
        return;
      }
      case "1", "2" -> found.reading(WITH, with, "barriers and reductions of workers go through the rendezvous and the tensor "
          + "streams");
      default -> {
        variables.wrong(WITH, WITH + " must be 0 (off), 1 (workers) or 2 (workers and all), but is \"" + with
            + "\", please check your environment.", with);
        return;
      }
    }
    String kind = variables.text(RENDEZVOUS, "not set");
    switch (kind) {
      case "1" -> needs(variables, found, "PADDLE_GLOO_FS_NAME", "PADDLE_GLOO_FS_UGI", PATH);
      case "2" -> needs(variables, found, PATH);
      case "3" -> {
        if (servers) {
          needs(variables, found, HTTP);
          variables.endpoint(HTTP, variables.text(HTTP, ""));
        }
      }
      default -> variables.wrong(RENDEZVOUS, WRONG + ": " + RENDEZVOUS + " must be 1 (HDFS), 2 (files) or 3 (HTTP), but is " + kind, kind);
    }
    found.reading(RENDEZVOUS, kind, UNUSED);
  }

  private static void needs(EnvironmentVariables variables, EnvironmentReadings found, String... names) {
    for (String name : names) {
      if (!variables.has(name)) {
        variables.wrong(name, WRONG + ": with " + RENDEZVOUS + " = " + variables.text(RENDEZVOUS) + " " + name + " must be set", name);
      }
      found.reading(name, variables.text(name), UNUSED);
    }
  }
}
