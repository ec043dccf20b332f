package io.regatta.fleet.launch.remote;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The options of the command line about machines that are reached over ssh. Immutable.
 *
 * @param hosts file with a machine a line
 * @param dispatchPackage directory of this machine that is copied to the workspaces first; null: they exist already
 * @param workspace directory of each machine, where %h stands for its host; relative to the login's home
 * @param ssh command
 * @param regatta command of the machines; empty: the workspace's own, or else regatta from the PATH
 */
public record RemoteOptions(Path hosts, Path dispatchPackage, String workspace, String ssh, String regatta) {

  private static final String WORKSPACE = "regatta-workspace";

  public RemoteOptions {
    if (dispatchPackage == null && workspace.isEmpty()) {
      throw new InvalidInput("--hosts needs --job_dispatch_package DIR, which is copied to the machines, or --job_workspace DIR, which is "
          + "on them already");
    }
    if (dispatchPackage != null && !Files.isDirectory(dispatchPackage)) {
      throw new InvalidInput("--job_dispatch_package " + dispatchPackage + " is no directory");
    }
    workspace = workspace.isEmpty() ? WORKSPACE : workspace;
  }

  /** Returns the workspace of a machine. */
  String workspaceOf(RemoteHost host) {
    return workspace.replace("%h", host.host());
  }
}
