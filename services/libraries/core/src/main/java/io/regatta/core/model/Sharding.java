package io.regatta.core.model;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * The division of a job's shards into those that hold dense parts and those that own sparse rows. Immutable; the same
 * in all processes of a job. Either all shards hold both, or they are apart, as the ports of PaddlePaddle's v2 are
 * ({@code ports_num}, {@code ports_num_for_sparse}). The shards of each server follow one another in the shard map: the
 * last ones own rows and the others hold dense parts.
 *
 * @param shards of all servers
 * @param perServer shards of each server; 0 if all hold both, because it then makes no difference
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

  /** Returns a sharding in which all shards hold both. */
  public static Sharding common(int shards) {
    return new Sharding(shards, 0, 0);
  }

  /** Returns true if dense parts and rows lie on different shards. */
  public boolean isApart() {
    return sparsePerServer > 0;
  }

  public boolean holdsDense(int shard) {
    return !isApart() || shard % perServer < perServer - sparsePerServer;
  }

  public boolean holdsSparse(int shard) {
    return !isApart() || shard % perServer >= perServer - sparsePerServer;
  }

  /** Returns the number of shards that hold dense parts. */
  public int denseShards() {
    return isApart() ? shards / perServer * (perServer - sparsePerServer) : shards;
  }

  /** Returns the number of shards that own rows. */
  public int sparseShards() {
    return isApart() ? shards / perServer * sparsePerServer : shards;
  }

  /** Returns the shard that is the i-th, from 0, of those that hold dense parts. */
  int denseShard(int i) {
    int dense = perServer - sparsePerServer;
    return isApart() ? i / dense * perServer + i % dense : i;
  }

  /** Returns the shard that is the i-th, from 0, of those that own rows. */
  int sparseShard(int i) {
    return isApart() ? i / sparsePerServer * perServer + perServer - sparsePerServer + i % sparsePerServer : i;
  }
}
