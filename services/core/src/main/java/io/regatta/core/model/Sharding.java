package io.regatta.core.model;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * Which of a job's shards hold dense parts, and which own sparse rows. All hold both, or they are apart, as the ports
 * of PaddlePaddle's v2 are ({@code ports_num}, {@code ports_num_for_sparse}): of each server's shards, which follow one
 * another in the shard map, the last ones own rows and the others hold dense parts. Immutable; the same in all processes
 * of a job.
 *
 * @param shards of all servers
 * @param perServer shards of each server; 0 where all hold both, for there it makes no difference
 * @param sparsePerServer how many of these own rows only; 0: all hold both
 */
public record Sharding(int shards, int perServer, int sparsePerServer) {

  public Sharding {
    if (sparsePerServer == 0) {
      perServer = 0;
    } else if (sparsePerServer < 0 || sparsePerServer >= perServer || shards % perServer != 0) {
      throw new InvalidInput(sparsePerServer + " of each server's " + perServer + " shards are to own sparse rows only, "
          + "of " + shards + " in all: all servers have as many, and each at least one for dense parts");
    }
  }

  /** All hold both. */
  public static Sharding common(int shards) {
    return new Sharding(shards, 0, 0);
  }

  /** Whether dense parts and rows lie on different shards. */
  public boolean isApart() {
    return sparsePerServer > 0;
  }

  public boolean holdsDense(int shard) {
    return !isApart() || shard % perServer < perServer - sparsePerServer;
  }

  public boolean holdsSparse(int shard) {
    return !isApart() || shard % perServer >= perServer - sparsePerServer;
  }

  /** Number of shards that hold dense parts. */
  public int denseShards() {
    return isApart() ? shards / perServer * (perServer - sparsePerServer) : shards;
  }

  /** Number of shards that own rows. */
  public int sparseShards() {
    return isApart() ? shards / perServer * sparsePerServer : shards;
  }

  /** The shard that is the i-th, from 0, of those that hold dense parts. */
  int denseShard(int i) {
    int dense = perServer - sparsePerServer;
    return isApart() ? i / dense * perServer + i % dense : i;
  }

  /** The shard that is the i-th, from 0, of those that own rows. */
  int sparseShard(int i) {
    return isApart() ? i / sparsePerServer * perServer + perServer - sparsePerServer + i % sparsePerServer : i;
  }
}
