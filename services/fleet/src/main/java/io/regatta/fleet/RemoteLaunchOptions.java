package io.regatta.fleet;

import io.regatta.fleet.launch.RemoteOptions;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Options of a launch on machines that are reached over ssh. */
final class RemoteLaunchOptions {

  @Option(names = "--hosts", paramLabel = "FILE", description = "starts the job on these machines over ssh: [user@]host[:port] a line. "
      + "Each has a server and a trainer, or as many as --server_num, --worker_num or --nproc_per_node say")
  private Path hosts;

  @Option(names = {"--job_dispatch_package", "--job-dispatch-package"}, paramLabel = "DIR",
      description = "copied to the machines' workspaces first")
  private Path dispatchPackage;

  @Option(names = {"--job_workspace", "--job-workspace"}, paramLabel = "DIR", defaultValue = "",
      description = "workspace on the machines, %%h stands for the host (regatta-workspace in the login's home)")
  private String workspace;

  @Option(names = "--ssh", paramLabel = "COMMAND", defaultValue = "ssh", description = "ssh with options of yours")
  private String ssh;

  @Option(names = "--regatta", paramLabel = "COMMAND", defaultValue = "",
      description = "regatta on the machines (the workspace's own, or that in the PATH)")
  private String regatta;

  boolean isGiven() {
    return hosts != null;
  }

  /** Directory of this machine in which the program is, as far as that is known; null: it is not. */
  Path directory() {
    return dispatchPackage;
  }

  RemoteOptions options() {
    return new RemoteOptions(hosts, dispatchPackage, workspace, ssh, regatta);
  }
}
