package io.regatta.trainer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.client.ParameterServerControl;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.util.List;

/**
 * The question to a job's servers whether they accept its snapshot directories. It is asked before the job trains,
 * because a snapshot that fails later ends no job. Owned by the trainer's event loop.
 */
final class SnapshotAdmission {

  private final Node node;
  private final ShardFinder.Found found;
  private final String job;

  SnapshotAdmission(Node node, ShardFinder.Found found, String job) {
    this.node = node;
    this.found = found;
    this.job = job;
  }

  /**
   * Completes if all servers may write, or read, below these directories; fails with the refusal of one that may not.
   */
  Future<Void> of(List<Path> directories, boolean write) {
    return Future.join(directories.stream().flatMap(directory -> found.servers().stream()
        .map(server -> of(server, directory, write))).toList()).mapEmpty();
  }

  private Future<Void> of(Directory.Instance server, Path directory, boolean write) {
    ParameterServerControl control = new ParameterServerControl(node.network(), server.host(), server.controlPort());
    return control.checkDirectory(directory.toString(), write)
        .recover(e -> Future.failedFuture(e instanceof InvalidInput ? refused(server, write, e) : e))
        .eventually(control::close);
  }

  private InvalidInput refused(Directory.Instance server, boolean write, Throwable why) {
    return new InvalidInput("job " + job + ": parameter server " + server.index() + " at " + server.endpoint()
        + " does not " + (write ? "write its snapshots: " : "read the snapshot to start from: ") + why.getMessage(),
        why);
  }
}
