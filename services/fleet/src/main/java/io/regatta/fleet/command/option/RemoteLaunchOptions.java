package io.regatta.fleet.command.option;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.launch.remote.RemoteOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** Options of a launch on machines that are reached over ssh. */
public final class RemoteLaunchOptions {

  private static final List<String> OF_HOSTS = List.of("--job_dispatch_package", "--job_workspace", "--ssh", "--regatta");

  @Option(names = "--hosts", paramLabel = "FILE", description = "starts the job on these machines over ssh: [user@]host[:port] a line. "
      + "Each has a server and a trainer, of a collective job a trainer, or as many as --server_num, --worker_num or --nproc_per_node say")
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

  /** Returns true if the machines are reached over ssh. */
  public boolean isGiven() {
    return hosts != null;
  }

  /** Returns the directory of this machine that holds the program, as far as that is known; null: it does not. */
  public Path directory() {
    return dispatchPackage;
  }

  /**
   * Refuses options that have no effect without {@code --hosts}.
   *
   * @param given first names of the options that were given
   */
  public void refuse(Set<String> given) {
    List<String> alone = OF_HOSTS.stream().filter(given::contains).toList();
    if (!alone.isEmpty()) {
      throw new InvalidInput(String.join(", ", alone) + ": of machines that are reached over ssh; name them with --hosts FILE");
    }
  }

  /** Returns all of them. */
  public RemoteOptions options() {
    return new RemoteOptions(hosts, dispatchPackage, workspace, ssh, regatta);
  }
}
