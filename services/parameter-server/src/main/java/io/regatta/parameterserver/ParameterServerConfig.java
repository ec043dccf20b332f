package io.regatta.parameterserver;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.memory.ShardMemory;
import io.regatta.core.model.Sharding;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import io.regatta.node.settings.StreamConfig;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;

/** Configuration of one parameter server: the section {@code parameter_server}. Validated in the constructor, immutable. */
@RecordBuilder
public record ParameterServerConfig(
    @Setting(value = "-1", doc = "This server's index among the servers, from 0; -1: the rendezvous gives one.")
    int index,

    @Setting(value = "1", doc = "Parameter servers in the cluster; matters when the rendezvous gives the index.")
    int servers,

    @Setting(value = "1", doc = "Shards of this server, each on an event loop of its own; the same on every server.")
    int shards,

    @Setting(value = "0", doc = "How many of these, the last ones, own rows of sparse tables only, while the others hold "
        + "dense parts only; the same on every server. 0: every shard holds both.")
    int sparseShards,

    @Setting(value = "0", doc = "Control port, on the node's host, which is the first shard's as well; the next shards listen on the "
        + "ports behind it. 0: any free ones.")
    int port,

    @Setting(value = "auto", doc = "When this server ends by itself. job: once the trainers of a job have closed, with "
        + "status 0 if one of them has ended its run with success, else 1. endless: never. auto: job for a server that "
        + "the variables of PaddlePaddle's Fluid and Fleet or --role pserver start for a known number of trainers, "
        + "unless by launch, which ends its servers; else endless.")
    Lifetime lifetime,

    @Setting(doc = "What one shard holds at most. A request beyond a limit is refused, names it, and changes nothing.")
    Limits limits,

    @Setting(doc = "Directories below which this server writes and reads snapshots; a request that names another "
        + "one is refused. Empty: those of the job (snapshots.dir or output, resume, init_from) if the server is "
        + "started with it; without a job the working directory on a loopback address, and none on others.")
    List<String> snapshotRoots,

    @Setting(doc = "Tensor streams.")
    StreamConfig stream) implements ParameterServerConfigBuilder.With {

  /** The time at which a server ends by itself. */
  public enum Lifetime { AUTO, JOB, ENDLESS }

  /** Limits of one shard. */
  @RecordBuilder
  public record Limits(
      @Setting(value = "64", doc = "Jobs.")
      int jobs,

      @Setting(value = "64", doc = "Sync rounds of a job that a fast trainer may open; in the other modes pushes for each trainer that wait to be applied.")
      int openRounds,

      @Setting(value = "4096", doc = "Pulls of a job that wait for a round, a clock or the initialisation.")
      int parkedPulls,

      @Setting(value = "200000000", doc = "Sparse rows of a job, all its tables together.")
      long rows,

      @Setting(value = "0", unit = "bytes", doc = "Memory of these rows: floats, ids and index. 0: any.")
      long sparseBytes,

      @Setting(value = "refuse", doc = "What happens at limits.rows and limits.sparse_bytes: a request that would pass one "
          + "is refused, or rows of tables that track their life (statistics, admission, unseen days, ttl) make room, of "
          + "some drawn by chance the one seen longest ago first.")
      Full onFull,

      @Setting(value = "268435456", unit = "bytes", doc = "Rows of a table that change before a snapshot has come to them, "
          + "kept as they were until they are written. Beyond it the snapshot fails; the job goes on.")
      long snapshotBytes) implements ParameterServerConfigLimitsBuilder.With {

    /** The reaction when rows reach a limit. */
    public enum Full { REFUSE, EVICT }

    public Limits {
      positive("limits.jobs", jobs);
      positive("limits.open_rounds", openRounds);
      positive("limits.parked_pulls", parkedPulls);
      positive("limits.rows", rows);
      if (sparseBytes < 0) {
        throw new InvalidInput("limits.sparse_bytes must be 0 (any) or more, got " + sparseBytes);
      }
      positive("limits.snapshot_bytes", snapshotBytes);
    }

    ShardLimits core() {
      return new ShardLimits(jobs, openRounds, parkedPulls, rows, sparseBytes, onFull == Full.EVICT,
          ShardMemory.ofProcess());
    }
  }

  public ParameterServerConfig {
    snapshotRoots = List.copyOf(snapshotRoots);
    if (snapshotRoots.stream().anyMatch(String::isBlank)) {
      throw new InvalidInput("snapshot_roots has an empty name; name directories, or leave it out");
    }
    positive("servers", servers);
    positive("shards", shards);
    if (sparseShards < 0 || sparseShards >= shards) {
      throw new InvalidInput("sparse_shards must be 0, or less than shards = " + shards
          + ", so that there are some for dense parts, got " + sparseShards);
    }
    if (index < -1 || index >= servers) {
      throw new InvalidInput("index must be -1 or within 0 .. servers - 1 = " + (servers - 1) + ", got " + index);
    }
    if (port < 0 || port + shards - 1 > 65_535) {
      throw new InvalidInput("port must be 0, or leave room for the ports of " + shards + " shards up to 65535, got " + port);
    }
  }

  /** Returns the defaults: one shard on any port. */
  public static ParameterServerConfig defaults() {
    return Settings.defaults(ParameterServerConfig.class);
  }

  /** Returns a copy in another place: for tests and for clusters within one JVM. */
  public ParameterServerConfig at(int newIndex, int newServers, int newShards) {
    return with(server -> server.index(newIndex).servers(newServers).shards(newShards));
  }

  /** Returns a copy with these roots of snapshots, unless some are configured. */
  public ParameterServerConfig rootedAt(List<String> jobsRoots) {
    return snapshotRoots.isEmpty() ? withSnapshotRoots(jobsRoots) : this;
  }

  /**
   * Refuses a job whose tables are cut otherwise than this server's shards hold them.
   *
   * @throws InvalidInput if they are
   */
  void checkSharding(JobSpec job) {
    Sharding its = job.sharding();
    if (its.sparsePerServer() != sparseShards || its.isApart() && its.perServer() != shards) {
      throw new InvalidInput("of " + shards + " shards of this server " + sparseShards + " own rows of sparse tables "
          + "only (parameter_server.sparse_shards, --ports_num_for_sparse), but job " + job.job() + " was cut for "
          + its.sparsePerServer() + (its.isApart() ? " of " + its.perServer() : "") + ": read the shard map again");
    }
  }

  private static void positive(String key, long value) {
    if (value < 1) {
      throw new InvalidInput(key + " must be at least 1, got " + value);
    }
  }
}
