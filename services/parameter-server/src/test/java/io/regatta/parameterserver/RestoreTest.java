package io.regatta.parameterserver;

import static io.regatta.parameterserver.RunningServers.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.SparseIds;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.parameterserver.RestoreRequest;
import io.regatta.protocol.parameterserver.SaveRequest;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.ModelLayout;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.SnapshotKind;
import io.vertx.core.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Trainers that make up for a lost one, or come late, ask a shard again for what the job has begun with. */
@ExtendWith(BlockedLoopGuard.class)
class RestoreTest {

  @TempDir
  Path dir;

  @Test
  void theSameIsAnsweredAlikeAndAnythingElseIsRefusedWithoutHarm() throws Exception {
    try (RunningServers servers = RunningServers.start(0, 1)) {
      servers.deploy(ParameterServerConfig.defaults().at(0, 1, 1).rootedAt(List.of(dir.toString())));
      Shard shard = servers.shards().get(0);
      ParameterServerControl control = servers.control(shard.getHost(), shard.getPort());
      Path snapshot = saved(servers, control);
      JobSpec job = Jobs.spec("next", Mode.ASYNC, 2, 1);
      List<ParameterClient> clients = List.of(servers.client(job, 0, 1), servers.client(job, 1, 1));
      clients.forEach(c -> get(c.register()));
      RestoreRequest request = RestoreRequest.newBuilder().setJob("next").setDirectory(snapshot.toString()).build();
      Future<Boolean> first = control.restore(request);
      assertThat(get(control.restore(request))).isTrue(); // of another rank, while the first reads
      assertThat(get(first)).isTrue();
      get(clients.get(1).push(0, 8, null, Jobs.dense(1, 0), Jobs.rows(1, 0)));
      long digest = get(clients.get(1).digest());
      assertThat(get(control.restore(request))).isTrue();
      assertThatThrownBy(() -> get(control.restore(request.toBuilder().setDirectory(dir.resolve("other").toString()).build())))
          .isInstanceOf(Conflict.class).hasMessageContaining(snapshot.toString());
      assertThat(get(clients.get(1).digest())).isEqualTo(digest);
      assertThat(servers.status(0).getShards(0).getJobs(0).getTablesOrThrow("emb").getRestored()).isEqualTo(Jobs.IDS.length);
      get(clients.get(1).push(1, 8, null, Jobs.dense(1, 1), Jobs.rows(1, 1)));
      for (ParameterClient client : clients) {
        get(client.leave(true));
      }
    }
  }

  @Test
  void when_a_request_leads_out_of_the_roots_then_save_and_restore_refuse_it_without_harm() throws Exception {
    Path root = Files.createDirectories(dir.resolve("root"));
    Path outside = Files.createDirectories(dir.resolve("outside"));
    Files.createSymbolicLink(root.resolve("link"), outside);
    try (RunningServers servers = RunningServers.start(0, 1)) {
      servers.deploy(ParameterServerConfig.defaults().at(0, 1, 1).rootedAt(List.of(root.toString())));
      Shard shard = servers.shards().get(0);
      ParameterServerControl control = servers.control(shard.getHost(), shard.getPort());
      ParameterClient next = servers.client(Jobs.spec("next", Mode.ASYNC, 1, 1), 0, 1);
      get(next.register());
      for (String name : List.of(outside.toString(), root + "/../outside", root + "/link", "link", "..", "../outside",
          "", "a\\b", "C:\\a", "a\0", "/")) {
        assertThatThrownBy(() -> get(control.save(SaveRequest.newBuilder().setJob("first").setDirectory(name)
            .setKind("full").build()))).as("save in %s", name).isInstanceOf(InvalidInput.class)
            .hasMessageNotContaining("is not on shard");
        assertThatThrownBy(() -> get(control.restore(RestoreRequest.newBuilder().setJob("next").setDirectory(name)
            .build()))).as("restore from %s", name).isInstanceOf(InvalidInput.class);
        for (boolean write : new boolean[] {false, true}) {
          assertThatThrownBy(() -> get(control.checkDirectory(name, write))).as("check of %s", name)
              .isInstanceOf(InvalidInput.class);
        }
      }
      assertThatThrownBy(() -> get(control.restore(RestoreRequest.newBuilder().setJob("next")
          .setDirectory(outside.toString()).build()))).hasMessageContaining(root.toString())
          .hasMessageContaining(SnapshotRoots.KEY);
      assertThat(outside).isEmptyDirectory();
      Files.createSymbolicLink(root.resolve("alias"), Files.createDirectory(root.resolve("own")));
      get(control.checkDirectory(root + "/alias", false));
      assertThatThrownBy(() -> get(control.checkDirectory(root + "/alias", true))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("symbolic link");
      get(control.checkDirectory(root + "/later", true));
      saved(servers, control, root.resolve("s"));
      assertThat(get(control.restore(RestoreRequest.newBuilder().setJob("next").setDirectory("s").build()))).isTrue();
      get(next.leave(true));
    }
  }

  @Test
  void when_no_root_is_configured_then_the_working_directory_is_one_on_loopback_alone() throws Exception {
    assertThat(SnapshotRoots.of(List.of(), true, dir).directory("s").path()).isEqualTo(dir.resolve("s"));
    for (SnapshotRoots roots : List.of(SnapshotRoots.of(List.of(), true),
        SnapshotRoots.of(List.of(), true, dir.resolve("work")))) {
      assertThatThrownBy(() -> roots.directory(dir.toString())).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(SnapshotRoots.KEY);
    }
    for (SnapshotRoots none : List.of(SnapshotRoots.of(List.of(), false, dir),
        SnapshotRoots.of(List.of(), true, dir.getRoot()))) {
      assertThatThrownBy(() -> none.directory(dir.toString())).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("set " + SnapshotRoots.KEY);
    }
    try (RunningServers servers = RunningServers.start(1, 1)) {
      Shard shard = servers.shards().get(0);
      ParameterServerControl control = servers.control(shard.getHost(), shard.getPort());
      assertThatThrownBy(() -> get(control.save(SaveRequest.newBuilder().setJob("job").setDirectory(dir.toString())
          .setKind("full").build()))).isInstanceOf(InvalidInput.class).hasMessageContaining(SnapshotRoots.KEY)
          .hasMessageContaining(Path.of("").toAbsolutePath().toString());
    }
  }

  private Path saved(RunningServers servers, ParameterServerControl control) throws Exception {
    return saved(servers, control, dir.resolve("s"));
  }

  private static Path saved(RunningServers servers, ParameterServerControl control, Path target) throws Exception {
    JobSpec job = Jobs.spec("first", Mode.ASYNC, 1, 1);
    ParameterClient client = servers.client(job, 0, 1);
    get(client.register());
    get(client.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
    get(client.pull(0, false, List.of(new SparseIds("emb", Jobs.IDS)), false));
    SnapshotDirectory out = SnapshotDirectory.of(target).begin();
    get(control.save(SaveRequest.newBuilder().setJob("first").setDirectory(out.part().toString())
        .setKind(SnapshotKind.FULL.label()).build()));
    FileEntry file = FileEntry.of(get(control.saved("first")));
    out.publish(new Manifest("first", "a1", "async", SnapshotKind.FULL, 0, -1, 0, false, "", "", ModelLayout.of(job), List.of(),
        List.of(file)).toJson(), true);
    get(client.leave(true));
    return target;
  }
}
