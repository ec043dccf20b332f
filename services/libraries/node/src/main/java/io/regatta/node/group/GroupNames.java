package io.regatta.node.group;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * Names of groups at the rendezvous: a job's group has the job's name, a group of services a name in parentheses, which
 * no job may have. Stateless; any thread.
 */
public final class GroupNames {

  /** The group in which parameter servers get their indices. */
  public static final String PARAMETER_SERVERS = "(parameter servers)";

  private GroupNames() {}

  /** @throws InvalidInput if the job's group could be taken for one of services */
  public static void checkJob(String job) {
    if (job.startsWith("(")) {
      throw new InvalidInput("job: " + job + " begins with a parenthesis, as the names of the services' own groups do; "
          + "give the job another name");
    }
  }
}
