package io.regatta.parameterserver;

import static io.regatta.parameterserver.RunningServers.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.model.Sharding;
import io.regatta.protocol.parameterserver.JobStatus;
import io.regatta.protocol.parameterserver.ShardStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Servers whose last shards hold sparse tables only, each at a port of its own. */
class SparseShardsTest {

  private static final int STEPS = 3;

  private static RunningServers servers() {
    RunningServers running = new RunningServers();
    for (int i = 0; i < 2; i++) {
      running.deploy(ParameterServerConfig.defaults().at(i, 2, 2).withSparseShards(1));
    }
    return running;
  }

  private static JobSpec spec(Sharding sharding) {
    JobSpec like = Jobs.spec("apart", Mode.SYNC, 2, sharding.shards());
    return new JobSpec(like.job(), like.mode(), like.trainers(), like.stalenessBound(), like.nanPolicy(), sharding,
        like.minBlock(), like.model());
  }

  @Test
  void eachPortHoldsItsOwnAndAllTogetherWhatOneProcessHas() throws Exception {
    try (RunningServers servers = servers()) {
      int port = servers.servers.get(1).port();
      assertThat(get(servers.control(servers.node.host(), port).shardMap()).getSparseShards()).isEqualTo(1);
      JobSpec job = spec(new Sharding(4, 2, 1));
      List<ParameterClient> clients = List.of(servers.client(job, 0, 1), servers.client(job, 1, 1));
      clients.forEach(c -> get(c.register()));
      get(clients.get(0).initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      for (long step = 0; step < STEPS; step++) {
        List<CompletableFuture<?>> acks = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
          var values = get(clients.get(rank).pull(step, true, List.of(new SparseIds("emb", Jobs.IDS)), false));
          acks.add(clients.get(rank).push(step, 8 + rank, values.versions(), Jobs.dense(rank, step),
              Jobs.rows(rank, step)));
        }
        acks.forEach(RunningServers::get);
      }
      assertThat(get(clients.get(0).digest())).isEqualTo(Jobs.reference(job, STEPS));
      long dense = 0;
      long rows = 0;
      for (int server = 0; server < 2; server++) {
        List<ShardStatus> shards = servers.status(server).getShardsList();
        JobStatus first = shards.get(0).getJobs(0);
        JobStatus second = shards.get(1).getJobs(0);
        assertThat(first.getDenseSize()).isPositive();
        assertThat(first.getRowsMap()).containsEntry("emb", 0L);
        assertThat(second.getDenseSize()).isZero();
        assertThat(second.getRowsMap().get("emb")).isPositive();
        assertThat(second.getVersion()).isEqualTo(STEPS);
        dense += first.getDenseSize();
        rows += second.getRowsMap().get("emb");
      }
      assertThat(dense).isEqualTo(Jobs.NUMEL);
      assertThat(rows).isEqualTo(Jobs.IDS.length);
    }
  }

  @Test
  void aJobThatWasCutOtherwiseIsRefused() throws Exception {
    try (RunningServers servers = servers(); RunningServers common = RunningServers.start(1, 2)) {
      for (Sharding other : List.of(Sharding.common(4), new Sharding(4, 4, 1))) {
        assertThatThrownBy(() -> get(servers.client(spec(other), 0, 1).register())).isInstanceOf(InvalidInput.class)
            .hasMessageContaining("of 2 shards of this server 1 own rows of sparse tables only (parameter_server.")
            .hasMessageContaining("job apart was cut for " + other.sparsePerServer());
      }
      assertThatThrownBy(() -> get(common.client(spec(new Sharding(2, 2, 1)), 0, 1).register()))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("job apart was cut for 1 of 2: read the shard map again");
    }
  }
}
